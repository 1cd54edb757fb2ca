package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/servers/redis"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of locksim and of Go",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			said := version()
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

// version is what the Go toolchain knows of this build. Two builds that may come to
// something else have different ones.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "locksim (unknown version)"
	}
	said := fmt.Sprintf("locksim %s %s", info.Main.Version, info.GoVersion)
	if !reference() {
		said += fmt.Sprintf(" (%s/%s, other traces than on Linux)", runtime.GOOS, runtime.GOARCH)
	}
	return said
}
