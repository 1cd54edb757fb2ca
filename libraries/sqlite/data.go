package sqlite

import (
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// data is what is kept in the databases that are locks, as committed: by database, the
// objects in alphabetical order. What a process reads of it comes from the process's own
// memory and emits no event.
type data map[string][]datum

// update reads the data of a database and calls emit for each object that has changed.
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

// emitWrites emits what a transaction has changed in the data.
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

// emitReverts emits what a crash has undone in the data.
func (g *register) emitReverts(b *database) {
	if !g.hasData(b) {
		return
	}
	g.data.update(b, g.disk.host, func(previous, current datum) {
		g.disk.host.Emit(trace.Event{Kind: trace.KindRevert, Object: current.object, Version: current.version, Replaced: previous.version, Value: current.value})
	})
}

// hasData reports whether a database is a lock itself, and so may hold data.
func (g *register) hasData(b *database) bool { return slices.Contains(g.files, b.name) }
