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

// SQLite calls its operating system only through a table of functions, a VFS
// (https://www.sqlite.org/vfs.html). This file implements one in Go. Each handle of a lock
// has a table of its own, under a name of its own.

// A system is what SQLite needs for one connection to one database. A file is known by the
// end of its name. Levels and codes are SQLite's.
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
	reserved() (is bool, code int32)
	// now returns the time of day in milliseconds since 1970.
	now() int64
	sleep(time.Duration)
}

var (
	systems sync.Map // from a VFS number (uintptr) to its system
	numbers atomic.Uintptr
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

// A handle is SQLite's data of an open file.
type handle struct {
	methods uintptr
	number  uintptr // of the system
	journal int32   // 1 if the file is the journal
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

// pointer returns a function as a C function pointer of the translated SQLite.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// at returns a pointer to SQLite's own memory, which Go does not manage.
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

// ending returns which of a database's files a name means; false if none. A journal can
// contain other names, and anything can be written into a journal.
func ending(name uintptr) (file string, is bool) {
	text := libc.GoString(name)
	if strings.HasSuffix(text, journal) {
		return journal, true
	}
	return databaseFile, strings.HasSuffix(text, ".db")
}

func xOpen(_ *libc.TLS, table, name, p uintptr, flags int32, out uintptr) int32 {
	at[handle](p).methods = 0 // SQLite closes only files that have methods
	if name == 0 {
		return sqlite3.SQLITE_CANTOPEN // a temporary file, which only databases too large for the simulation need
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
	if !is || !s.exists(file) {
		return sqlite3.SQLITE_IOERR_DELETE_NOENT
	}
	return s.remove(file, durably != 0)
}

func xAccess(_ *libc.TLS, table, name uintptr, _ int32, out uintptr) int32 {
	file, is := ending(name)
	*at[int32](out) = libc.Bool32(is && ofTable(table).exists(file))
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

// xRandomness returns zeros. SQLite asks only the first VFS for its random numbers, and
// none of these gets into a trace.
func xRandomness(_ *libc.TLS, _ uintptr, n int32, out uintptr) int32 {
	clear(bytesAt(out, n))
	return n
}

// xSleep sleeps. SQLite sleeps between two checks whether a file is still locked, as
// busy_timeout demands.
func xSleep(_ *libc.TLS, table uintptr, microseconds int32) int32 {
	ofTable(table).sleep(time.Duration(microseconds) * time.Microsecond)
	return microseconds
}

// midnight is the beginning of 1970 in days since noon, 24 November 4714 BC, from which
// SQLite counts.
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

// xDeviceCharacteristics returns SQLite's assumption about disks on Unix: a write leaves
// the bytes beside it as they are.
func xDeviceCharacteristics(*libc.TLS, uintptr) int32 {
	return sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE
}
