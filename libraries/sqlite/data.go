package sqlite

import (
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// data has the objects that were last committed in each file that a client locks by reserving it
// for writing. The key is the file; the objects are in alphabetical order. A process reads its data
// from its own memory, so reads are not in the trace.
type data map[string][]datum

// update reads the committed data of a database, and calls emit for each object that has
// changed since the last call.
func (d data) update(b *database, host *sim.Host, emit func(previous, current datum)) {
	now, err := readData(b.cached)
	if err != nil {
		host.Doubt("the data cannot be read: " + err.Error())
		return
	}
	before := d[b.name]
	d[b.name] = now
	find := func(all []datum, object string) datum {
		if i := slices.IndexFunc(all, func(x datum) bool { return x.object == object }); i >= 0 {
			return all[i]
		}
		return datum{object: object}
	}
	for _, current := range now {
		if previous := find(before, current.object); previous != current {
			emit(previous, current)
		}
	}
	for _, previous := range before {
		if current := find(now, previous.object); current.version == 0 {
			emit(previous, current)
		}
	}
}

// emitWrites records what a transaction has changed in the data.
func (g *register) emitWrites(b *database, by *trace.Actor) {
	if !g.hasData(b) || by == nil {
		return
	}
	g.data.update(b, g.disk.host, func(previous, current datum) {
		ev := sim.NewServeEvent(trace.Write, current.object, by)
		ev.Version, ev.Replaced, ev.Value = current.version, previous.version, current.value
		g.disk.host.Emit(ev)
	})
}

// emitReverts records what a crash has undone in the data.
func (g *register) emitReverts(b *database) {
	if !g.hasData(b) {
		return
	}
	g.data.update(b, g.disk.host, func(previous, current datum) {
		g.disk.host.Emit(trace.Event{Kind: trace.KindRevert, Object: current.object, Version: current.version, Replaced: previous.version, Value: current.value})
	})
}

// hasData reports whether the file of a database is the key of a lock. If it is, its
// reservation is recorded, and the file may hold data.
func (g *register) hasData(b *database) bool { return slices.Contains(g.files, b.name) }
