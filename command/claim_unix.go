//go:build unix

package command

import (
	"errors"
	"os"
	"syscall"
)

// ledgerMode is how a ledger is opened to be written.
const ledgerMode = os.O_RDWR | os.O_APPEND

// claim claims a file for this process until it closes the file or dies, however it dies:
// against everybody if it is to be written, and otherwise against those who write. The
// error is a [claimed] if somebody else has it, and of another kind where files cannot be
// claimed, as on some file systems.
//
// It takes a lock of POSIX because of these the kernel says whose they are. Such a lock
// goes with the first of a process's descriptors of the file that is closed, so a claimed
// file must not be opened a second time.
func claim(file *os.File, writing bool) error {
	wanted := syscall.Flock_t{Type: syscall.F_RDLCK} // of all of the file
	if writing {
		wanted.Type = syscall.F_WRLCK
	}
	held := wanted
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	if err := raw.Control(func(descriptor uintptr) {
		refused = syscall.FcntlFlock(descriptor, syscall.F_SETLK, &wanted)
		if errors.Is(refused, syscall.EAGAIN) || errors.Is(refused, syscall.EACCES) {
			refused = claimed{}
			if syscall.FcntlFlock(descriptor, syscall.F_GETLK, &held) == nil && held.Type != syscall.F_UNLCK {
				refused = claimed{int(held.Pid)}
			}
		}
	}); err != nil {
		return err
	}
	return refused
}
