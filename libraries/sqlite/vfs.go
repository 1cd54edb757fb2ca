package sqlite

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite calls its operating system only through a table of functions, called a VFS
// (https://www.sqlite.org/vfs.html). This file makes such tables, whose functions are
// written in Go. Each handle of a lock has a table under a name of its own. The table
// contains a number, by which its functions find their system.

// A system is the operating system for one connection of SQLite to one database. file is
// the end of a file's name, which says whether it is the database file or the journal. A
// code is one of SQLite's result codes.
type system interface {
	open(file string, make bool) (code int32)
	close(file string)
	read(file string, into []byte, at int64) (code int32)
	write(file string, from []byte, at int64) (code int32)
	truncate(file string, size int64) (code int32)
	size(file string) int64
	exists(file string) bool
	sync(file string) (code int32)
	// remove deletes a file; if durably is true, the deletion must also reach the disk.
	remove(file string, durably bool) (code int32)
	lock(to level) (code int32)
	unlock(to level) (code int32)
	// reserved reports whether any process has reserved the database.
	reserved() (is bool, code int32)
	// now returns the time of day in milliseconds since 1970.
	now() int64
	sleep(time.Duration)
}

var (
	systems sync.Map       // from a VFS number (uintptr) to its system
	numbers atomic.Uintptr // the number of the latest system
)

// mount registers a system with SQLite under a new name, until unmount is called.
func mount(s system) (name string, unmount func(), err error) {
	tls := libc.NewTLS()
	number := numbers.Add(1)
	name = fmt.Sprintf("locksim-%d", number)
	text, err := libc.CString(name)
	if err != nil {
		return "", nil, err
	}
	table := sqlite3.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if table == 0 {
		return "", nil, fmt.Errorf("no memory for %s", name)
	}
	v := pointerTo[sqlite3.Tsqlite3_vfs](table)
	*v = functions
	v.FzName, v.FpAppData = text, number
	systems.Store(number, s)
	unmount = func() {
		sqlite3.Xsqlite3_vfs_unregister(tls, table)
		systems.Delete(number)
		sqlite3.Xsqlite3_free(tls, table)
		libc.Xfree(tls, text)
		tls.Close()
	}
	if code := sqlite3.Xsqlite3_vfs_register(tls, table, 0); code != sqlite3.SQLITE_OK {
		unmount()
		return "", nil, fmt.Errorf("SQLite rejects %s: error %d", name, code)
	}
	return name, unmount, nil
}

// A handle is what SQLite keeps for an open file. SQLite allocates it, and passes its
// address to the functions.
type handle struct {
	methods uintptr
	number  uintptr // of the system to which the file belongs
	journal int32   // 1 if the file is the journal
}

// functions is the model for the tables of functions. methods are the functions for open
// files, to which handles point.
var (
	functions = sqlite3.Tsqlite3_vfs{
		FiVersion: 2, FszOsFile: int32(unsafe.Sizeof(handle{})), FmxPathname: 512,
		FxOpen: pointer(xOpen), FxDelete: pointer(xDelete), FxAccess: pointer(xAccess), FxFullPathname: pointer(xFullPathname),
		FxRandomness: pointer(xRandomness), FxSleep: pointer(xSleep), FxCurrentTime: pointer(xCurrentTime),
		FxCurrentTimeInt64: pointer(xCurrentTimeInt64), FxGetLastError: pointer(xGetLastError),
	}
	methods = sqlite3.Tsqlite3_io_methods{
		FiVersion: 1,
		FxClose:   pointer(xClose), FxRead: pointer(xRead), FxWrite: pointer(xWrite), FxTruncate: pointer(xTruncate),
		FxSync: pointer(xSync), FxFileSize: pointer(xFileSize), FxLock: pointer(xLock), FxUnlock: pointer(xUnlock),
		FxCheckReservedLock: pointer(xCheckReservedLock), FxFileControl: pointer(xFileControl),
		FxSectorSize: pointer(xSectorSize), FxDeviceCharacteristics: pointer(xDeviceCharacteristics),
	}
)

// pointer returns a Go function as a function pointer for SQLite, which is C code
// translated to Go.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// pointerTo returns a pointer to a value in SQLite's own memory, which Go does not manage.
func pointerTo[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// bytesAt returns n bytes of SQLite's own memory.
func bytesAt(p uintptr, n int32) []byte { return unsafe.Slice(pointerTo[byte](p), n) }

// systemOf returns the system with the given number.
func systemOf(number uintptr) system {
	s, _ := systems.Load(number)
	return s.(system)
}

// ofTable returns the system to which a table of functions belongs.
func ofTable(table uintptr) system { return systemOf(pointerTo[sqlite3.Tsqlite3_vfs](table).FpAppData) }

// ofHandle returns the system and the file to which a handle belongs.
func ofHandle(p uintptr) (s system, file string) {
	h := pointerTo[handle](p)
	if h.journal == 1 {
		file = journal
	}
	return systemOf(h.number), file
}

// fileOf returns which of a database's two files a name means; false if it means neither.
// SQLite may ask for other names, because a journal can contain names, and a journal can
// have any contents.
func fileOf(name uintptr) (file string, is bool) {
	text := libc.GoString(name)
	if strings.HasSuffix(text, journal) {
		return journal, true
	}
	return databaseFile, strings.HasSuffix(text, ".db")
}

// xOpen opens a file. The functions whose names begin with x are those that SQLite calls.
// They are described in https://www.sqlite.org/c3ref/vfs.html and
// https://www.sqlite.org/c3ref/io_methods.html. A parameter out is the address at which
// SQLite expects a result.
func xOpen(_ *libc.TLS, table, name, p uintptr, flags int32, out uintptr) int32 {
	pointerTo[handle](p).methods = 0 // without methods, SQLite does not close the file
	if name == 0 {
		return sqlite3.SQLITE_CANTOPEN // a temporary file, which SQLite needs only for databases that are too large for a world
	}
	file, is := fileOf(name)
	if !is {
		return sqlite3.SQLITE_CANTOPEN
	}
	if code := ofTable(table).open(file, flags&sqlite3.SQLITE_OPEN_CREATE != 0); code != sqlite3.SQLITE_OK {
		return code
	}
	h := pointerTo[handle](p)
	*h = handle{methods: uintptr(unsafe.Pointer(&methods)), number: pointerTo[sqlite3.Tsqlite3_vfs](table).FpAppData}
	if file == journal {
		h.journal = 1
	}
	if out != 0 {
		*pointerTo[int32](out) = flags
	}
	return sqlite3.SQLITE_OK
}

func xClose(_ *libc.TLS, p uintptr) int32 {
	s, file := ofHandle(p)
	s.close(file)
	return sqlite3.SQLITE_OK
}

func xDelete(_ *libc.TLS, table, name uintptr, durably int32) int32 {
	s := ofTable(table)
	file, is := fileOf(name)
	if !is || !s.exists(file) {
		return sqlite3.SQLITE_IOERR_DELETE_NOENT
	}
	return s.remove(file, durably != 0)
}

func xAccess(_ *libc.TLS, table, name uintptr, _ int32, out uintptr) int32 {
	file, is := fileOf(name)
	*pointerTo[int32](out) = libc.Bool32(is && ofTable(table).exists(file))
	return sqlite3.SQLITE_OK
}

func xFullPathname(_ *libc.TLS, _, name uintptr, n int32, out uintptr) int32 {
	text := libc.GoString(name) + "\x00"
	if len(text) > int(n) {
		return sqlite3.SQLITE_CANTOPEN
	}
	copy(bytesAt(out, n), text)
	return sqlite3.SQLITE_OK
}

// xRandomness returns zeros in place of random numbers. SQLite asks only the VFS that was
// mounted first, and no such number gets into a trace.
func xRandomness(_ *libc.TLS, _ uintptr, n int32, out uintptr) int32 {
	clear(bytesAt(out, n))
	return n
}

// xSleep sleeps. SQLite calls it between two attempts to lock a file, until busy_timeout
// has passed.
func xSleep(_ *libc.TLS, table uintptr, microseconds int32) int32 {
	ofTable(table).sleep(time.Duration(microseconds) * time.Microsecond)
	return microseconds
}

// midnight is the beginning of 1970 as SQLite counts time: in days since noon, 24 November
// 4714 BC.
const midnight = 2440587.5

func xCurrentTime(_ *libc.TLS, table, out uintptr) int32 {
	*pointerTo[float64](out) = midnight + float64(ofTable(table).now())/86_400_000
	return sqlite3.SQLITE_OK
}

func xCurrentTimeInt64(_ *libc.TLS, table, out uintptr) int32 {
	*pointerTo[int64](out) = int64(midnight*86_400_000) + ofTable(table).now()
	return sqlite3.SQLITE_OK
}

func xGetLastError(*libc.TLS, uintptr, int32, uintptr) int32 { return 0 }

func xRead(_ *libc.TLS, p, into uintptr, n int32, from int64) int32 {
	s, file := ofHandle(p)
	return s.read(file, bytesAt(into, n), from)
}

func xWrite(_ *libc.TLS, p, from uintptr, n int32, to int64) int32 {
	s, file := ofHandle(p)
	return s.write(file, bytesAt(from, n), to)
}

func xTruncate(_ *libc.TLS, p uintptr, size int64) int32 {
	s, file := ofHandle(p)
	return s.truncate(file, size)
}

func xSync(_ *libc.TLS, p uintptr, _ int32) int32 {
	s, file := ofHandle(p)
	return s.sync(file)
}

func xFileSize(_ *libc.TLS, p, out uintptr) int32 {
	s, file := ofHandle(p)
	*pointerTo[int64](out) = s.size(file)
	return sqlite3.SQLITE_OK
}

func xLock(_ *libc.TLS, p uintptr, to int32) int32 {
	s, _ := ofHandle(p)
	return s.lock(level(to))
}

func xUnlock(_ *libc.TLS, p uintptr, to int32) int32 {
	s, _ := ofHandle(p)
	return s.unlock(level(to))
}

func xCheckReservedLock(_ *libc.TLS, p, out uintptr) int32 {
	s, _ := ofHandle(p)
	is, code := s.reserved()
	*pointerTo[int32](out) = libc.Bool32(is)
	return code
}

func xFileControl(*libc.TLS, uintptr, int32, uintptr) int32 { return sqlite3.SQLITE_NOTFOUND }

func xSectorSize(*libc.TLS, uintptr) int32 { return 4096 }

// xDeviceCharacteristics returns what SQLite assumes about disks on Unix: if the power is
// lost during a write, the bytes next to the written ones do not change.
func xDeviceCharacteristics(*libc.TLS, uintptr) int32 {
	return sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE
}
