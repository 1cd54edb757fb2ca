package main

import (
	"os"
	"os/exec"
	"syscall"
)

// changesRoot makes a command run with another root, and reports whether this process has the
// right to.
func changesRoot(cmd *exec.Cmd, root string) bool {
	if os.Geteuid() != 0 {
		return false
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	return true
}
