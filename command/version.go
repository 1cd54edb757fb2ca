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
			if !locks.ChecksIdle() {
				said += "\n" + redis.Blind
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), said)
			return unwritten(err)
		},
	}
}

// version is what the Go toolchain knows of this build. Two builds that may come to
// something else have different ones.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "locksim (unknown version)"
	}
	said := fmt.Sprintf("locksim %s %s", info.Main.Version, info.GoVersion)
	if !locks.ChecksIdle() {
		said += fmt.Sprintf(" (%s/%s, other traces than on Linux)", runtime.GOOS, runtime.GOARCH)
	}
	return said
}
