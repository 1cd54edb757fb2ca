//go:build unix

package command

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errNoDirectory is the operating system's error for a path that uses a file as a folder.
var errNoDirectory error = unix.ENOTDIR

// openDescriptor returns an inherited descriptor as a file for writing. The caller must
// keep a reference to the file, because the garbage collector closes the descriptor of a
// file without references.
func openDescriptor(number int, name string) (*os.File, error) {
	if err := checkDescriptor(number); err != nil {
		return nil, err
	}
	if f := standardFile(number); f != nil {
		return f, nil
	}
	// The workers of a search must not inherit the descriptor: a reader at the other end
	// would wait until they end.
	unix.CloseOnExec(number)
	return os.NewFile(uintptr(number), name), nil
}

// isDiscarded reports whether output to a file is lost. A standard stream may have been closed when
// this process started. Then the Go runtime has opened /dev/null in its place, for reading and
// writing, before this program runs. A parent process may have done the same on purpose; the two
// cases cannot be distinguished. A shell opens /dev/null for >/dev/null only for writing; then
// isDiscarded returns false.
func isDiscarded(f *os.File) bool {
	mode, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, null) && mode&unix.O_ACCMODE == unix.O_RDWR
}

// checkDescriptor returns an error if an inherited descriptor does not exist or cannot be
// written to.
func checkDescriptor(number int) error {
	// A descriptor that the Go runtime or this program has opened is closed on exec. An
	// inherited one is not, which is how the two are distinguished.
	flags, err := unix.FcntlInt(uintptr(number), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		return errors.New("no such file is open; open it in the shell, or name a file")
	}
	mode, err := unix.FcntlInt(uintptr(number), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	if mode&unix.O_ACCMODE == unix.O_RDONLY {
		return errors.New("it is open for reading only; open it for writing in the shell, or name a file")
	}
	return nil
}
