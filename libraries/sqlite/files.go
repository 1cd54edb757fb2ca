package sqlite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/locksim/locksim/locks"
)

// files are the two files of a database, the database file and its journal, as one process
// has opened them. They implement system, the interface by which SQLite reaches its
// operating system. Requests go over a network connection to the node that simulates the
// machine.
type files struct {
	env  *locks.Env
	name string

	conn  net.Conn // nil if the database is not open
	lines *bufio.Reader
	// broken is the error after which the files cannot be used until they are opened again;
	// nil if there was none.
	broken error

	contents    contents // the files as this process sees them
	version     int      // the version of the contents at the last answer
	changes     []change // what this process has changed since then
	machineTime int64    // the time of day at the last answer, in milliseconds since 1970
}

// open opens a file, and creates it if make is set. Opening the database file connects to
// the machine. The journal belongs to the open database, so it needs no connection.
func (f *files) open(file string, make bool) int32 {
	if file == journal {
		switch {
		case make && !f.exists(journal):
			return f.applyChange(change{File: journal, Offset: -1})
		case !f.exists(journal):
			return sqlite3.SQLITE_CANTOPEN
		}
		return sqlite3.SQLITE_OK
	}
	conn, err := f.env.Dial(f.env.Lifetime(), "tcp", f.env.Nodes[0])
	if err != nil {
		f.broken = err
		return sqlite3.SQLITE_CANTOPEN
	}
	f.env.Cleanup(func() { _ = conn.Close() })
	f.conn, f.lines, f.broken = conn, bufio.NewReader(conn), nil
	f.contents, f.version, f.changes = contents{databaseFile: nil}, 0, nil
	_, code := f.request(request{Op: opOpen, Name: f.name})
	return code
}

// close closes a file. Closing the database file ends the connection to the machine.
func (f *files) close(file string) {
	if file == databaseFile && f.conn != nil {
		_ = f.conn.Close()
		f.conn = nil
	}
}

// request sends a request, together with the changes since the last one, to the node that
// simulates the operating system. It waits for the answer, and stores the files if other
// processes have changed them.
func (f *files) request(r request) (yes bool, code int32) {
	if f.broken != nil || f.conn == nil {
		return false, sqlite3.SQLITE_IOERR
	}
	r.KnownVersion, r.Changes = f.version, f.changes
	var raw [][]byte
	for _, c := range f.changes {
		raw = append(raw, c.data)
	}
	msg, err := encodeMessage(r, raw...)
	if err == nil {
		_, err = f.conn.Write(msg)
	}
	var a answer
	if err == nil {
		a, err = f.readAnswer()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		f.broken = err
		_ = f.conn.Close()
		return false, sqlite3.SQLITE_IOERR
	}
	f.machineTime = a.Now
	if a.Why != "" {
		return false, sqlite3.SQLITE_IOERR
	}
	f.version, f.changes = a.Version, nil
	if a.contents != nil {
		f.contents = a.contents
	}
	return a.Yes, sqlite3.SQLITE_OK
}

// readAnswer reads an answer from the connection.
func (f *files) readAnswer() (a answer, err error) {
	line, err := f.lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	for _, s := range a.Sizes {
		if a.contents == nil {
			a.contents = contents{}
		}
		b := make([]byte, s.Size)
		if err == nil {
			_, err = io.ReadFull(f.lines, b)
		}
		a.contents[s.File] = b
	}
	return a, err
}

// applyChange changes a file in this process's memory. The machine gets the change with the
// next request.
func (f *files) applyChange(c change) int32 {
	if f.contents.apply(c) != nil {
		return sqlite3.SQLITE_FULL
	}
	f.changes = append(f.changes, c)
	return sqlite3.SQLITE_OK
}

// read reads from a file in this process's memory, from an offset. If the file is too
// short, the rest is filled with zeros.
func (f *files) read(file string, into []byte, at int64) int32 {
	content := f.contents[file]
	n := copy(into, content[min(at, int64(len(content))):])
	if n < len(into) {
		clear(into[n:])
		return sqlite3.SQLITE_IOERR_SHORT_READ
	}
	return sqlite3.SQLITE_OK
}

// write writes to a file in this process's memory, at an offset.
func (f *files) write(file string, from []byte, at int64) int32 {
	return f.applyChange(change{File: file, Offset: at, Size: len(from), data: bytes.Clone(from)})
}

// truncate cuts a file, or extends it by zeros, to a length in bytes.
func (f *files) truncate(file string, size int64) int32 {
	return f.applyChange(change{File: file, Offset: size})
}

// size returns the length of a file in bytes.
func (f *files) size(file string) int64 { return int64(len(f.contents[file])) }

// exists reports whether the file exists for this process.
func (f *files) exists(file string) bool {
	_, is := f.contents[file]
	return is
}

// sync makes the machine write a file to its disk.
func (f *files) sync(file string) int32 {
	_, code := f.request(request{Op: opSync, File: file})
	return code
}

// remove deletes a file. If the request fails, the process still has the file.
func (f *files) remove(file string, durably bool) int32 {
	_, code := f.request(request{Op: opDelete, File: file, Durably: durably})
	if code == sqlite3.SQLITE_OK {
		delete(f.contents, file)
	}
	return code
}

// lock raises the level of the lock on the database. It returns SQLITE_BUSY if another
// process prevents that.
func (f *files) lock(to level) int32 {
	switch yes, code := f.request(request{Op: opLock, Level: to}); {
	case code != sqlite3.SQLITE_OK:
		return code
	case !yes:
		return sqlite3.SQLITE_BUSY
	}
	return sqlite3.SQLITE_OK
}

// unlock lowers the level of the lock.
func (f *files) unlock(to level) int32 {
	_, code := f.request(request{Op: opUnlock, Level: to})
	return code
}

// reserved reports whether any process has reserved the file.
func (f *files) reserved() (bool, int32) { return f.request(request{Op: opReserved}) }

// now returns the machine's time of day at the last answer.
func (f *files) now() int64 { return f.machineTime }

// sleep sleeps by the process's own clock.
func (f *files) sleep(d time.Duration) { _ = f.env.Clock.Sleep(f.env.Lifetime(), d) }
