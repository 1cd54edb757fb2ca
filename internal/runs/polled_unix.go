//go:build unix

package runs

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// polled is a pipe that can be waited for without a thread. Go opens the standard input as
// a file in which every read blocks one: until the runtime has noticed, nothing else runs
// on the one processor that a worker has, and for as long as it goes on the runtime looks
// out for more of the kind, many times for each order.
func polled(in io.Reader) io.Reader {
	f, ok := in.(*os.File)
	if !ok {
		return in
	}
	// Others read a terminal too, and would find that it no longer blocks.
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return in
	}
	fd := f.Fd()
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return in
	}
	return os.NewFile(fd, f.Name())
}
