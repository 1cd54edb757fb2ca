//go:build unix

package command

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errNoDirectory is the error of the operating system for a path that leads through a file.
var errNoDirectory error = unix.ENOTDIR

// openDescriptor opens a descriptor that this process inherited, for writing. The caller
// must keep a reference to the file, because the garbage collector closes unreferenced
// files.
func openDescriptor(number int, name string) (*os.File, error) {
	if err := checkDescriptor(number); err != nil {
		return nil, err
	}
	if f := standardFile(number); f != nil {
		return f, nil
	}
	// If the workers of a search kept it open, a reader at the other end would wait for
	// them.
	unix.CloseOnExec(number)
	return os.NewFile(uintptr(number), name), nil
}

// isDiscarded reports whether output to a file is lost, because the file may be a standard
// stream that was closed when this process started. The Go runtime replaces such a stream
// by /dev/null, opened for reading and writing, before this program runs. A parent may have
// done the same on purpose, which looks the same here. A shell opens >/dev/null for writing
// only.
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

// checkDescriptor returns why a descriptor that this process inherited cannot be written
// to.
func checkDescriptor(number int) error {
	// Files that the Go runtime and this program have opened are closed on exec; inherited
	// files are not.
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
