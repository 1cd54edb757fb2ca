//go:build unix

package reality

import (
	"os/exec"
	"syscall"
)

// unsupported says why this operating system cannot play a scenario; "" if it can.
const unsupported = ""

// ownGroup makes a command the leader of a process group of its own, so that signals reach
// everything that it starts, and the terminal's interrupt does not.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
}

// stopGroup stops all processes of a group, as SIGSTOP does.
func stopGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGSTOP); awaitStop(leader) }

// continueGroup lets a stopped group continue.
func continueGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGCONT) }

// killGroup kills all processes of a group.
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// shutDown asks a group to end in an orderly way.
func shutDown(leader int) { _ = syscall.Kill(-leader, syscall.SIGTERM) }

// withoutParentDeath returns attributes that do not end a process with its parent.
func withoutParentDeath(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: attr.Setpgid}
}
