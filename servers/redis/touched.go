package redis

import (
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// touched is what may have changed since it was last looked at: nobody looks at all keys
// after every command. A command changes no keys but those that it names, with few
// exceptions, and time those that end.
type touched struct {
	// names are all words of the commands, for some of them name keys.
	names []string
	// all: any key may have changed. fields: as long as the server runs, for it has
	// hashes whose fields end.
	all, fields bool
	// deadlines are those of keys, and some that keys once had, the earliest first.
	deadlines []deadline
}

// by is told of every command that miniredis is sent, also by scripts.
func (t *touched) by(name string, words []string) {
	switch name {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO":
		return // it changes nothing itself
	case "FLUSHALL", "FLUSHDB", "SWAPDB":
		t.all = true
	case "HEXPIRE", "HSETEX":
		t.fields = true
	}
	t.names = append(t.names, words...)
}

// looked is for when nothing is left to look at.
func (t *touched) looked() {
	clear(t.names)
	t.names, t.all = t.names[:0], false
}

// suspects lists the keys that may have changed, in a fixed order. Next time they are not
// among them.
func (n *node) suspects() []keyID {
	var ids []keyID
	if n.touched.all || n.touched.fields {
		ids = append(n.keys.ids(), n.scan().ids()...)
	}
	for _, name := range n.touched.names {
		for _, db := range n.dbs {
			id := keyID{db, name}
			if _, known := n.keys[id]; known || n.mini.DB(db).Exists(name) {
				ids = append(ids, id)
			}
		}
	}
	for first, ok := n.firstExpiry(); ok && !first.After(n.wall); first, ok = n.firstExpiry() {
		ids = append(ids, n.touched.deadlines[0].id)
		n.touched.deadlines = n.touched.deadlines[1:]
	}
	n.touched.looked()
	slices.SortFunc(ids, keyID.compare)
	return slices.Compact(ids)
}

// know takes down what a key is.
func (n *node) know(id keyID, is entry) {
	if was := n.keys[id]; !is.expires.IsZero() && !was.expires.Equal(is.expires) {
		all := n.touched.deadlines
		i, _ := slices.BinarySearchFunc(all, is.expires, func(d deadline, at time.Time) int { return d.at.Compare(at) })
		n.touched.deadlines = slices.Insert(all, i, deadline{is.expires, id})
	}
	n.keys[id] = is
}

// knowAll takes down what all keys are.
func (n *node) knowAll(now keyspace) {
	n.keys = keyspace{}
	n.touched.deadlines = nil
	n.touched.looked()
	for _, id := range now.ids() {
		n.know(id, now[id])
	}
}

// firstExpiry is the earliest time at which a key ends.
func (n *node) firstExpiry() (first time.Time, ok bool) {
	for d := &n.touched.deadlines; len(*d) > 0; *d = (*d)[1:] {
		if next := (*d)[0]; n.keys[next.id].expires.Equal(next.at) {
			return next.at, true
		}
	}
	return time.Time{}, false
}

// differences looks at the keys that may have changed: first at those that are gone, and then at
// those that stand, of which nothing may have been known.
func (n *node) differences(gone func(id keyID, was entry), stands func(id keyID, was, is entry)) {
	suspects := n.suspects()
	for _, id := range suspects {
		was, existed := n.keys[id]
		if _, is := n.read(id); existed && !is {
			gone(id, was)
		}
	}
	for _, id := range suspects {
		if is, there := n.read(id); there {
			stands(id, n.keys[id], is)
		}
	}
}

// changed looks at the keys that may have changed, and records what has: by a command of
// an actor, or, without one, by the clock. It reports whether there was anything.
func (n *node) changed(by *trace.Actor) bool {
	var effects []effect
	n.differences(func(id keyID, was entry) {
		kind := trace.KindDelete
		if by == nil {
			kind = trace.KindExpire
		}
		n.host.Emit(n.goneEvent(kind, id, was, by))
		effects = append(effects, effect{id: id, gone: true})
	}, func(id keyID, was, is entry) {
		if was.isLike(is) {
			return
		}
		kind, prior := trace.KindSet, was.owner
		is.owner = by
		if was.same(is) {
			kind, prior = trace.KindTouch, nil
			is.owner = was.owner
		}
		ev := n.keyEvent(kind, id, is)
		ev.By, ev.Prior = by, prior
		n.host.Emit(ev)
		effects = append(effects, effect{id: id, entry: is})
	})
	for _, e := range effects {
		if e.gone {
			delete(n.keys, e.id)
		} else {
			n.know(e.id, e.entry)
		}
	}
	if len(effects) == 0 {
		return false
	}
	n.plan()
	n.disk.wrote(effects)
	n.repl.propagate(effects)
	return true
}

// A deadline is when a key ends.
type deadline struct {
	at time.Time
	id keyID
}
