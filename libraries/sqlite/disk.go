package sqlite

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// machine is the node, on which all processes run: a machine with its disk and its
// operating system's locks on files. All clients of a world share it.
type machine struct {
	*agenda.Outbox
	host      *sim.Host
	databases []*database // in the order in which they were first opened
	register  *register
}

// A database has two files, the database file and its journal. Either of them may not exist.
type database struct {
	name string
	// cached is what processes read and write: the operating system's memory. stored is
	// what is on the disk. version is the version of cached: it grows with each change.
	cached, stored contents
	version        int
	openFiles      []*openFile
	// deleted has the files that were deleted for processes, but are still on the disk,
	// with the true times of the deletions.
	deleted map[string]time.Duration
}

// commitInterval is how long a file system takes to write a deletion to the disk if nothing
// is synced meanwhile: ext4's commit interval
// (https://www.kernel.org/doc/html/latest/admin-guide/ext4.html).
const commitInterval = 5 * time.Second

// An openFile is a database that a process has open. It is the machine's end of the
// process's connection.
type openFile struct {
	disk       *machine
	end        *sim.End
	database   *database // nil before the database is opened
	level      level
	reservedBy *trace.Actor // the acquisition in which the process has reserved the file
}

// boot makes the machine, without any files: the Boot of [sim.System].
func boot(host *sim.Host) sim.Server {
	d := &machine{Outbox: agenda.NewOutbox(host), host: host}
	d.register = newRegister(d, host.Keys())
	return d
}

// Accept implements [sim.Server].
func (d *machine) Accept(end *sim.End) sim.Endpoint { return &openFile{disk: d, end: end} }

// ClockChanged implements [sim.Server]. Leases may have expired.
func (d *machine) ClockChanged() {
	if d.host.IsUp() {
		d.register.ClockChanged()
	}
}

// Crash implements [sim.Server]. The locks on files are in the operating system's memory,
// so they are lost. If a journal remains, the next process that opens the database rolls
// its transaction back. A power loss loses what is only in memory; a journal that was
// deleted a moment before can then exist again.
func (d *machine) Crash(how trace.Crash) {
	d.Outbox.Crash()
	for _, b := range d.databases {
		b.openFiles = nil
		if how == trace.PowerLoss {
			for file, at := range b.deleted {
				if d.host.Now()-at >= commitInterval {
					delete(b.stored, file)
				}
			}
			clear(b.deleted)
			b.cached = maps.Clone(b.stored)
			b.version++
		}
	}
}

// Restart implements [sim.Server].
func (d *machine) Restart() { d.register.emitLost() }

// Stop implements [sim.Server]. It does nothing, because there are no goroutines.
func (d *machine) Stop() {}

// Receive implements [sim.Endpoint].
func (o *openFile) Receive(r *sim.Request) {
	o.disk.Do(func() {
		var a answer
		switch body := r.Body.(type) {
		case *request:
			a = o.serve(body, r.Sender())
		default:
			a.Why = "malformed request"
		}
		a.Now = o.disk.host.Clock().Now().UnixMilli()
		o.disk.Send(func() { o.end.ReplyTo(r, a.packet()) })
	})
}

// packet returns the message that contains the answer.
func (a answer) packet() sim.Packet {
	var raw [][]byte
	for _, file := range slices.Sorted(maps.Keys(a.contents)) {
		a.Sizes = append(a.Sizes, size{file, len(a.contents[file])})
		raw = append(raw, a.contents[file])
	}
	bytes, err := encodeMessage(a, raw...)
	if err != nil {
		panic(err) // cannot happen: the answer consists of texts and numbers
	}
	text := "yes"
	switch {
	case a.Why != "":
		text = a.Why
	case !a.Yes:
		text = "no"
	}
	return sim.Packet{Bytes: bytes, Text: text}
}

// serve executes a request of a process.
func (o *openFile) serve(r *request, by *trace.Actor) answer {
	d := o.disk
	if why := d.host.Failure(); why != "" && (r.Op == opSync || r.Op == opDelete) { // a disk that fails does not affect locks, which are in memory
		return answer{Why: why}
	}
	if r.Op == opOpen {
		o.open(r.Name)
		return answer{Yes: true}
	}
	b := o.database
	if b == nil {
		return answer{Why: "no database is open"}
	}
	isCurrent := r.KnownVersion == b.version
	if why := o.write(r.Changes); why != "" {
		return answer{Why: why}
	}
	a := answer{Yes: true}
	switch r.Op {
	case opLock:
		a.Yes = o.lock(r.Level, by)
	case opUnlock:
		o.unlock(r.Level, by, trace.KindDelete)
	case opReserved:
		a.Yes = slices.ContainsFunc(b.openFiles, func(o *openFile) bool { return o.level >= reservedLevel })
	case opSync:
		d.flushDeletions()
		b.sync(r.File)
	case opDelete:
		b.remove(r.File, d.host.Now())
		if r.Durably {
			d.flushDeletions()
		}
		if d.host.Now() <= 0 { // before the run begins, everything counts as written to the disk
			b.stored = maps.Clone(b.cached)
			clear(b.deleted)
		}
		d.register.emitChanges(b, by)
	}
	if a.Version = b.version; !isCurrent {
		a.contents = b.cached
	}
	return a
}

// open opens a database, and creates it if it does not exist.
func (o *openFile) open(name string) {
	i := slices.IndexFunc(o.disk.databases, func(b *database) bool { return b.name == name })
	if i < 0 {
		i = len(o.disk.databases)
		o.disk.databases = append(o.disk.databases, &database{
			name: name, cached: contents{databaseFile: nil}, stored: contents{databaseFile: nil}, deleted: map[string]time.Duration{},
		})
	}
	o.database = o.disk.databases[i]
	o.database.openFiles = append(o.database.openFiles, o)
}

// write applies a process's changes. It returns the text of an error, or "".
func (o *openFile) write(all []change) (why string) {
	if len(all) == 0 {
		return ""
	}
	o.database.cached = maps.Clone(o.database.cached) // a copy, because answers in flight may contain the old contents
	o.database.version++
	for _, c := range all {
		if err := o.database.cached.apply(c); err != nil {
			return err.Error()
		}
		o.disk.host.ChargeText(len(c.data))
	}
	return ""
}

// sync writes a file to the disk.
func (b *database) sync(file string) {
	if content, exists := b.cached[file]; exists {
		b.stored[file] = content
	}
}

// remove deletes a file for processes. The file stays on the disk until deletions are
// written there.
func (b *database) remove(file string, now time.Duration) {
	b.cached = maps.Clone(b.cached)
	delete(b.cached, file)
	b.version++
	if _, exists := b.stored[file]; exists {
		b.deleted[file] = now
	}
}

// flushDeletions writes all deletions to the disk. A file system does so when any of its
// files is synced.
func (d *machine) flushDeletions() {
	for _, b := range d.databases {
		for file := range b.deleted {
			delete(b.stored, file)
		}
		clear(b.deleted)
	}
}

// lock raises the level of a process's lock, as unixLock of SQLite's os_unix.c does. It
// returns false if the locks of other processes prevent that.
//
// A process that has reserved the file and wants exclusive access gets the level pending
// while other processes still read: then no new readers are admitted. A process that wants
// to roll back another process's journal has not reserved the file, and does not get that
// level.
func (o *openFile) lock(want level, by *trace.Actor) bool {
	others := slices.DeleteFunc(slices.Clone(o.database.openFiles), func(p *openFile) bool { return p == o })
	anyOtherAt := func(at level) bool {
		return slices.ContainsFunc(others, func(p *openFile) bool { return p.level >= at })
	}
	switch {
	case want <= o.level:
		return true
	case want == sharedLevel && anyOtherAt(pendingLevel), want == reservedLevel && anyOtherAt(reservedLevel), want == exclusiveLevel && anyOtherAt(pendingLevel):
		return false
	case want == exclusiveLevel && anyOtherAt(sharedLevel):
		if o.level == reservedLevel {
			o.level = pendingLevel
		}
		return false
	}
	previous := o.level
	o.level = want
	if previous < reservedLevel && want >= reservedLevel {
		o.reservedBy = by
		o.disk.register.emitReserved(o)
	}
	return true
}

// unlock lowers the level of a process's lock. how is the kind of the event if the process
// no longer reserves the file.
func (o *openFile) unlock(to level, by *trace.Actor, how trace.Kind) {
	previous := o.level
	o.level = min(previous, to)
	if previous >= reservedLevel && o.level < reservedLevel {
		o.disk.register.emitUnreserved(o, by, how)
	}
}

// HangUp implements [sim.Endpoint]. When a process ends, the operating system releases its
// locks on files. A journal remains as it is.
func (o *openFile) HangUp(bool) {
	if o.database == nil {
		return
	}
	o.disk.Do(func() {
		o.unlock(unlockedLevel, nil, trace.KindDrop) // no request has caused it
		o.database.openFiles = slices.DeleteFunc(o.database.openFiles, func(p *openFile) bool { return p == o })
	})
}
