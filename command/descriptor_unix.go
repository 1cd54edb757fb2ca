//go:build unix

package command

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errNoDirectory is the operating system's error of a path that leads through a file.
var errNoDirectory error = unix.ENOTDIR

// openDescriptor is a descriptor that this process was started with, to be written to. It
// stays open until the file is closed, and no longer than the file is referred to: the
// garbage collector closes what nobody refers to.
func openDescriptor(number int, name string) (*os.File, error) {
	if err := checkDescriptor(number); err != nil {
		return nil, err
	}
	if f := standardFile(number); f != nil {
		return f, nil
	}
	// The workers of a search must not hold the other end's reader up.
	unix.CloseOnExec(number)
	return os.NewFile(uintptr(number), name), nil
}

// isNowhere reports whether what is written to a file is lost because the file may be a standard
// stream that this process was started without. The Go runtime opens /dev/null in place of such
// a stream, for reading and writing, before any of this program runs. A parent may have done
// the same on purpose, and nothing tells the two apart; a shell's >/dev/null is opened for
// writing only.
func isNowhere(f *os.File) bool {
	mode, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	it, err := f.Stat()
	return err == nil && os.SameFile(it, null) && mode&unix.O_ACCMODE == unix.O_RDWR
}

// checkDescriptor says why nothing can be written to a descriptor that this process was
// started with.
func checkDescriptor(number int) error {
	// What the Go runtime and this program have opened is closed on exec, and what was
	// passed on to this process is not.
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
