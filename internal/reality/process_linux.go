package reality

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

// dieWithParent makes the kernel kill the child when the thread that starts it ends. The
// guard does the same and more, but a child that was started a moment ago may not be known
// to it yet.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitStop waits until the leader of a group has stopped: SIGSTOP reaches a process that
// runs on another processor a little later.
func awaitStop(pid int) {
	for range 200 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return
		}
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) && stat[i+2] != 'R' && stat[i+2] != 'S' && stat[i+2] != 'D' {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}
