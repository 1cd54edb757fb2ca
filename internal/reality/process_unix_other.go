//go:build unix && !linux

package reality

import (
	"syscall"
	"time"
)

// dieWithParent does nothing: only Linux can end a child with its parent. The guard ends it.
func dieWithParent(*syscall.SysProcAttr) {}

// awaitStop gives the processes of a group a moment to stop.
func awaitStop(int) { time.Sleep(time.Millisecond) }
