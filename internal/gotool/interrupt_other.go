//go:build !unix

package gotool

import (
	"os"
	"os/exec"
)

// interruptWithChildren makes the end of a command's context interrupt the command.
func interruptWithChildren(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
}
