package main

import (
	"os"
	"os/exec"
	"syscall"
)

// changesRoot makes a command run with another root folder. It returns false, and changes nothing,
// if this process lacks the right to do so.
func changesRoot(cmd *exec.Cmd, root string) bool {
	if os.Geteuid() != 0 {
		return false
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	return true
}
