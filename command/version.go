package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/textwrap"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/servers/redis"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of locksim, of Go and of the lock libraries",
		Args:  refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := version() + describeLinked(chooseWidth(cmd.OutOrStdout()))
			if !hasReferenceTraces() {
				text += "\n" + redis.IdleCheckGap
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
			return outputError(err)
		},
	}
}

// hasReferenceTraces reports whether the traces of this build are the same as on Linux. They are
// the same if go-redis checks idle connections. On Linux a test ensures that go-redis does so; on
// other systems locks.ChecksIdle finds out.
func hasReferenceTraces() bool { return runtime.GOOS == "linux" || locks.ChecksIdle() }

// version returns what the Go toolchain knows about this build: the version of locksim, and
// the program that contains it if it is another one. If two builds may give different
// results, their versions differ.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "locksim (unknown version)"
	}
	own, program := info.Main.Version, ""
	if !strings.HasPrefix(info.Main.Path+"/", locksimModule+"/") {
		own, program = versionOf(info, locksimModule), fmt.Sprintf(", in %s %s", info.Main.Path, info.Main.Version)
	}
	text := fmt.Sprintf("locksim %s %s%s", own, info.GoVersion, program)
	if !hasReferenceTraces() {
		text += fmt.Sprintf(" (%s/%s, other traces than on Linux)", runtime.GOOS, runtime.GOARCH)
	}
	return text
}

// searchVersion returns the version for the ledger of a search: it includes the version of
// the library of the lock that is searched.
func searchVersion(lock string) string {
	text := version()
	if info, ok := debug.ReadBuildInfo(); ok {
		if library := libraryOf(lock); versionOf(info, library) != "" {
			text += ", " + library + " " + versionOf(info, library)
		}
	}
	return text
}

const (
	locksimModule = "github.com/locksim/locksim"
	goRedis       = "github.com/redis/go-redis/v9"
)

// libraryOf returns the Go module on whose version the behaviour of a lock depends.
func libraryOf(lock string) string {
	k, _ := locks.Lookup(lock)
	return cmp.Or(k.Library, goRedis)
}

// versionOf returns the version of a module that is linked into this program; "" if it is
// not.
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

// describeLinked returns lines that list the systems, libraries and locks that are linked
// into this program, and the known locks that are not. A width of 0 means that it is not
// known, and no line is broken.
func describeLinked(width int) string {
	wrap := func(text string) string {
		if width == 0 {
			return text
		}
		return textwrap.Wrap(text, width, 2)
	}
	var systems, libraries, missing []string
	info, _ := debug.ReadBuildInfo()
	for _, name := range locks.Names() {
		k, _ := locks.Lookup(name)
		if !isLinked(name) {
			missing = append(missing, name)
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
		return "\n" + wrap(what+strings.Join(names, ", ")+after)
	}
	return line("systems: ", systems, "") + line("libraries: ", libraries, "") +
		line("known, but not linked in: the locks ", missing, "; locksim-all has them")
}
