//go:build unix

package command

import (
	"errors"
	"os"
	"syscall"
)

// ledgerMode is the mode in which a ledger, the file with all results of a search, is
// opened for writing.
const ledgerMode = os.O_RDWR | os.O_APPEND

// claim locks a file for this process until the process closes the file or ends, in
// whatever way. For writing the lock is exclusive; for reading it excludes only writers.
// The error is an [inUseError] if another process has locked the file. Any other error
// means that the file cannot be locked, as on some file systems.
//
// claim uses a POSIX lock, because the kernel can name the process that holds such a lock.
// The lock ends when the process closes any of its descriptors of the file, so a claimed
// file must not be opened a second time.
func claim(file *os.File, writing bool) error {
	wanted := syscall.Flock_t{Type: syscall.F_RDLCK} // zero values mean the whole file
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
			refused = inUseError{}
			if syscall.FcntlFlock(descriptor, syscall.F_GETLK, &held) == nil && held.Type != syscall.F_UNLCK {
				refused = inUseError{int(held.Pid)}
			}
		}
	}); err != nil {
		return err
	}
	return refused
}
