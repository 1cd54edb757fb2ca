//go:build unix

package runs

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// pollable returns the input in a form in which reading from it does not block a thread, if
// it is a pipe. Go opens the standard input as a file, and every read from a file blocks a
// thread. That would slow down a worker, which has only one processor: nothing else runs
// there until Go's runtime has noticed the blocked thread. The runtime would also keep
// checking for blocked threads, many times for each order.
func pollable(in io.Reader) io.Reader {
	f, ok := in.(*os.File)
	if !ok {
		return in
	}
	// Only a pipe is changed. Other processes read a terminal too, and would fail if
	// reading from it no longer blocked.
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return in
	}
	fd := f.Fd()
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return in
	}
	return os.NewFile(fd, f.Name())
}
