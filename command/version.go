package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/servers/redis"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of locksim, of Go and of the lock libraries",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			said := version() + linkedIn()
			if !reference() {
				said += "\n" + redis.Blind
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), said)
			return unwritten(err)
		},
	}
}

// reference says that traces are those of Linux, where a test sees to it that go-redis looks at
// its idle connections; elsewhere that is found out by trying.
func reference() bool { return runtime.GOOS == "linux" || locks.ChecksIdle() }

// version is what the Go toolchain knows of this build: of locksim, and of the program that it is
// in, if that is somebody else's. Two builds that may come to something else have different ones.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "locksim (unknown version)"
	}
	own, program := info.Main.Version, ""
	if !strings.HasPrefix(info.Main.Path+"/", locksimModule+"/") {
		own, program = versionOf(info, locksimModule), fmt.Sprintf(", in %s %s", info.Main.Path, info.Main.Version)
	}
	said := fmt.Sprintf("locksim %s %s%s", own, info.GoVersion, program)
	if !reference() {
		said += fmt.Sprintf(" (%s/%s, other traces than on Linux)", runtime.GOOS, runtime.GOARCH)
	}
	return said
}

// versionWith is the version of what searches a lock: with that of the lock's library.
func versionWith(lock string) string {
	said := version()
	if info, ok := debug.ReadBuildInfo(); ok {
		if library := libraryOf(lock); versionOf(info, library) != "" {
			said += ", " + library + " " + versionOf(info, library)
		}
	}
	return said
}

const (
	locksimModule = "github.com/locksim/locksim"
	goRedis       = "github.com/redis/go-redis/v9"
)

// libraryOf is the Go module on whose version it depends what a lock does.
func libraryOf(lock string) string {
	k, _ := locks.Lookup(lock)
	return cmp.Or(k.Library, goRedis)
}

// versionOf is the version of a module in this program; "" if it is not in it.
func versionOf(info *debug.BuildInfo, module string) string {
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == module })
	if i < 0 {
		return ""
	}
	m := info.Deps[i]
	if m.Replace != nil {
		m = m.Replace
	}
	return m.Version
}

// linkedIn says which systems, libraries and locks are linked into this program, and which are
// only known to it.
func linkedIn() string {
	var systems, libraries, lacks []string
	info, _ := debug.ReadBuildInfo()
	for _, name := range locks.Names() {
		k, _ := locks.Lookup(name)
		if !linked(name) {
			lacks = append(lacks, name)
			continue
		}
		systems = append(systems, k.System)
		library := libraryOf(name)
		if info != nil {
			library += " " + versionOf(info, library)
		}
		libraries = append(libraries, strings.TrimSpace(library))
	}
	line := func(what string, names []string, after string) string {
		slices.Sort(names)
		names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
		if len(names) == 0 {
			return ""
		}
		return "\n" + what + strings.Join(names, ", ") + after
	}
	return line("systems: ", systems, "") + line("libraries: ", libraries, "") +
		line("known, but not linked in: the locks ", lacks, "; locksim-all has them")
}
