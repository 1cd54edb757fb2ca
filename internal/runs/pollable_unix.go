//go:build unix

package runs

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// pollable returns the input so that reading from it does not block a thread, if it is a
// pipe. Go opens the standard input as a file in which every read blocks a thread. A worker
// has only one processor: nothing else runs on it until the runtime has noticed the blocked
// thread. As long as such reads continue, the runtime keeps checking for more of them, many
// times for each order.
func pollable(in io.Reader) io.Reader {
	f, ok := in.(*os.File)
	if !ok {
		return in
	}
	// Other processes read a terminal too, and would be surprised if it no longer blocked.
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return in
	}
	fd := f.Fd()
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return in
	}
	return os.NewFile(fd, f.Name())
}
