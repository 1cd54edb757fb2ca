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
func (d data) finds(b *database, host *sim.Host, tell func(was, is datum)) {
	now, err := readData(b.cached)
	if err != nil {
		host.Doubt("nobody can say what the data is: " + err.Error())
		return
	}
	before := d[b.name]
	d[b.name] = now
	of := func(all []datum, object string) datum {
		if i := slices.IndexFunc(all, func(x datum) bool { return x.object == object }); i >= 0 {
			return all[i]
		}
		return datum{object: object}
	}
	for _, is := range now {
		if was := of(before, is.object); was != is {
			tell(was, is)
		}
	}
	for _, was := range before {
		if is := of(now, was.object); is.version == 0 {
			tell(was, is)
		}
	}
}

// emitWrites emits what a transaction has changed in the data.
func (g *register) committed(b *database, by *trace.Actor) {
	if !g.keeps(b) || by == nil {
		return
	}
	g.data.finds(b, g.d.host, func(was, is datum) {
		ev := sim.Served(trace.Write, is.object, by)
		ev.Version, ev.Replaced, ev.Value = is.version, was.version, is.value
		g.d.host.Emit(ev)
	})
}

// emitReverts emits what a crash has undone in the data.
func (g *register) reverted(b *database) {
	if !g.keeps(b) {
		return
	}
	g.data.finds(b, g.d.host, func(was, is datum) {
		g.d.host.Emit(trace.Event{Kind: trace.KindRevert, Object: is.object, Version: is.version, Replaced: was.version, Value: is.value})
	})
}

// hasData reports whether a database is a lock itself, and so may hold data.
func (g *register) keeps(b *database) bool { return slices.Contains(g.files, b.name) }
