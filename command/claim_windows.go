package command

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// ledgerMode is how a ledger is opened to be written. A file that is opened to append to
// it could not be cut off here.
const ledgerMode = os.O_RDWR

// claim claims a file for this process until it closes the file or dies, however it dies:
// against everybody if it is to be written, and otherwise against those who write. The
// error is a [claimed] if somebody else has it, and of another kind where files cannot be
// claimed, as on some file systems.
//
// What is locked is a byte behind the end of any file: bytes that are locked cannot even
// be read by others.
func claim(file *os.File, writing bool) error {
	var flags uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if writing {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	behind := &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, behind)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return claimed{}
	}
	return err
}
