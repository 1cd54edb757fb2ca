//go:build unix

package reality

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// shutDownFast asks the leader of a group to end in an orderly way without waiting for its
// clients, as PostgreSQL does on SIGINT.
func shutDownFast(leader int) { _ = syscall.Kill(leader, syscall.SIGINT) }

// withoutParentDeath returns attributes that do not end a process with its parent.
func withoutParentDeath(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: attr.Setpgid}
}

// nobody is the user of a server that refuses to run as root.
const nobody = 65534

// giveToServer lets a server use a folder, also if it does not run as root.
func giveToServer(folder string) error {
	if os.Getuid() != 0 {
		return nil
	}
	run := filepath.Dir(folder)
	if err := os.Chmod(run, 0o711); err != nil {
		return err
	}
	if closed := findClosedParent(run); closed != "" {
		return fmt.Errorf("the server runs as the user nobody, who may not enter %s; set TMPDIR to a folder that everybody may enter", closed)
	}
	return os.Chown(folder, nobody, nobody)
}

// findClosedParent returns a parent of a folder that not everybody may enter; "" if there is
// none.
func findClosedParent(folder string) string {
	for dir := filepath.Dir(folder); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
			return dir
		}
	}
	return ""
}

// runAsServer makes a command run as another user than root.
func runAsServer(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}
