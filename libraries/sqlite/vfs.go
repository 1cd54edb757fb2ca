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

// SQLite asks its operating system for everything by a table of functions, which it calls a VFS
// (https://www.sqlite.org/vfs.html). Here it asks Go: each handle of a lock has a table of its own,
// under a name of its own.

// A system is what SQLite asks for, by one connection to one database; files are known by what
// their names end with. A level or an error is one of SQLite's.
type system interface {
	open(file string, make bool) (code int32)
	close(file string)
	read(file string, into []byte, at int64) (code int32)
	write(file string, from []byte, at int64) (code int32)
	truncate(file string, size int64) (code int32)
	size(file string) int64
	there(file string) bool
	sync(file string) (code int32)
	// remove deletes a file; durably says that this has to be on the disk, too.
	remove(file string, durably bool) (code int32)
	lock(to level) (code int32)
	unlock(to level) (code int32)
	reserved() (is bool, code int32)
	// now is the time of day in milliseconds since 1970.
	now() int64
	sleep(time.Duration)
}

var (
	systems sync.Map // what a table is for: its number as a uintptr to the system
	numbers atomic.Uintptr
)

// mount has SQLite know a system by a name, until unmount is called.
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
	v := at[sqlite3.Tsqlite3_vfs](table)
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
		return "", nil, fmt.Errorf("SQLite does not take %s: error %d", name, code)
	}
	return name, unmount, nil
}

// A handle is what SQLite knows of an open file.
type handle struct {
	methods uintptr
	number  uintptr // of the system
	journal int32   // 1: of its journal
}

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

// pointer is a function as SQLite, translated from C, has it.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// at is what SQLite has at an address of its own, which Go's memory has no part in.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func bytesAt(p uintptr, n int32) []byte { return unsafe.Slice(at[byte](p), n) }

func systemOf(number uintptr) system {
	s, _ := systems.Load(number)
	return s.(system)
}

func ofTable(table uintptr) system { return systemOf(at[sqlite3.Tsqlite3_vfs](table).FpAppData) }

func ofHandle(p uintptr) (s system, file string) {
	h := at[handle](p)
	if h.journal == 1 {
		file = journal
	}
	return systemOf(h.number), file
}

// ending is which of the files of a database a name is, if it is one: a journal can name others,
// and anything can be written into a journal.
func ending(name uintptr) (file string, is bool) {
	text := libc.GoString(name)
	if strings.HasSuffix(text, journal) {
		return journal, true
	}
	return itself, strings.HasSuffix(text, ".db")
}

func xOpen(_ *libc.TLS, table, name, p uintptr, flags int32, out uintptr) int32 {
	at[handle](p).methods = 0 // SQLite closes what has methods
	if name == 0 {
		return sqlite3.SQLITE_CANTOPEN // a temporary file: what is so large that it needs one has no place here
	}
	file, is := ending(name)
	if !is {
		return sqlite3.SQLITE_CANTOPEN
	}
	if code := ofTable(table).open(file, flags&sqlite3.SQLITE_OPEN_CREATE != 0); code != sqlite3.SQLITE_OK {
		return code
	}
	h := at[handle](p)
	*h = handle{methods: uintptr(unsafe.Pointer(&methods)), number: at[sqlite3.Tsqlite3_vfs](table).FpAppData}
	if file == journal {
		h.journal = 1
	}
	if out != 0 {
		*at[int32](out) = flags
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
	file, is := ending(name)
	if !is || !s.there(file) {
		return sqlite3.SQLITE_IOERR_DELETE_NOENT
	}
	return s.remove(file, durably != 0)
}

func xAccess(_ *libc.TLS, table, name uintptr, _ int32, out uintptr) int32 {
	file, is := ending(name)
	*at[int32](out) = libc.Bool32(is && ofTable(table).there(file))
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

// SQLite asks no VFS but the first for what it draws numbers from, and none of those gets to a
// trace: here it gets noughts.
func xRandomness(_ *libc.TLS, _ uintptr, n int32, out uintptr) int32 {
	clear(bytesAt(out, n))
	return n
}

// SQLite sleeps between two looks whether a file is still locked, as busy_timeout has it.
func xSleep(_ *libc.TLS, table uintptr, microseconds int32) int32 {
	ofTable(table).sleep(time.Duration(microseconds) * time.Microsecond)
	return microseconds
}

// midnight is 1970 in days since noon, 24 November 4714 BC, from which SQLite counts.
const midnight = 2440587.5

func xCurrentTime(_ *libc.TLS, table, out uintptr) int32 {
	*at[float64](out) = midnight + float64(ofTable(table).now())/86_400_000
	return sqlite3.SQLITE_OK
}

func xCurrentTimeInt64(_ *libc.TLS, table, out uintptr) int32 {
	*at[int64](out) = int64(midnight*86_400_000) + ofTable(table).now()
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
	*at[int64](out) = s.size(file)
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
	*at[int32](out) = libc.Bool32(is)
	return code
}

func xFileControl(*libc.TLS, uintptr, int32, uintptr) int32 { return sqlite3.SQLITE_NOTFOUND }

func xSectorSize(*libc.TLS, uintptr) int32 { return 4096 }

// As SQLite takes it of a disk on Unix: what is written beside something leaves that as it is.
func xDeviceCharacteristics(*libc.TLS, uintptr) int32 {
	return sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE
}
