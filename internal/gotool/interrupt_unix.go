//go:build unix

package gotool

import (
	"os/exec"
	"syscall"
)

// interruptWithChildren makes the end of a command's context interrupt all processes that
// the command has started, too. The go command itself passes no interrupt on.
func interruptWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}
