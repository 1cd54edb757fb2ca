package command

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// ledgerMode is the mode in which a ledger, the file with all results of a search, is
// opened for writing. It is not append mode, because then Windows could not truncate the
// file.
const ledgerMode = os.O_RDWR

// claim locks a file for this process until the process closes the file or ends, in
// whatever way. For writing the lock is exclusive; for reading it excludes only writers.
// The error is an [inUseError] if another process has locked the file. Any other error
// means that the file cannot be locked, as on some file systems.
//
// claim locks one byte far behind the end of the file, because other processes cannot read
// locked bytes.
func claim(file *os.File, writing bool) error {
	var flags uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if writing {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	behind := &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, behind)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return inUseError{}
	}
	return err
}
