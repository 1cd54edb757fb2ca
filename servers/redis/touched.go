package redis

import (
	"slices"
	"time"

	"github.com/locksim/locksim/trace"
)

// A changeTracker lists the keys that may have changed since the last check, so that the node need
// not compare all keys after every command. A command changes only keys that it names, except those
// that addCommand lists. The passing of time changes only keys that expire.
type changeTracker struct {
	// words are all words of the commands since the last check: some of them are names of
	// keys.
	words []string
	// anyKey reports whether every key may have changed. hasExpiringFields reports whether a hash
	// may have got fields that expire: then every key may have changed, at every check until the
	// server stops.
	anyKey, hasExpiringFields bool
	// deadlines are the times at which keys expire, the earliest first. Some are out of
	// date: the key was changed or deleted since.
	deadlines []deadline
}

// addCommand adds the words of a command. It is called for every command that miniredis
// gets, including those of scripts.
func (t *changeTracker) addCommand(name string, words []string) {
	switch name {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO":
		return // the script changes keys only by the commands that it calls
	case "FLUSHALL", "FLUSHDB", "SWAPDB":
		t.anyKey = true
	case "HEXPIRE", "HSETEX":
		t.hasExpiringFields = true
	}
	t.words = append(t.words, words...)
}

// reset empties the tracker after all listed keys were checked.
func (t *changeTracker) reset() {
	clear(t.words)
	t.words, t.anyKey = t.words[:0], false
}

// takeSuspects returns the suspects, which are the keys that may have changed, in sorted order, and
// resets the tracker.
func (n *node) takeSuspects() []keyID {
	var ids []keyID
	if n.tracker.anyKey || n.tracker.hasExpiringFields {
		ids = append(n.sortedIDs(n.keys), n.sortedIDs(n.readAllKeys())...)
	}
	for _, db := range n.usedDBs {
		keys := n.mini.DB(db)
		for _, name := range n.tracker.words {
			id := keyID{db, name}
			if _, known := n.keys[id]; known || keys.Exists(name) {
				ids = append(ids, id)
			}
		}
	}
	for first, ok := n.firstExpiry(); ok && !first.After(n.miniTime); first, ok = n.firstExpiry() {
		ids = append(ids, n.tracker.deadlines[0].id)
		n.tracker.deadlines = n.tracker.deadlines[1:]
	}
	n.tracker.reset()
	n.sortIDs(ids)
	return slices.Compact(ids)
}

// recordKey stores what is now known of a key, and its deadline.
func (n *node) recordKey(id keyID, current entry) {
	if old := n.keys[id]; !current.expires.IsZero() && !old.expires.Equal(current.expires) {
		deadlines := n.tracker.deadlines
		i, _ := slices.BinarySearchFunc(deadlines, current.expires, func(d deadline, at time.Time) int { return d.at.Compare(at) })
		n.tracker.deadlines = slices.Insert(deadlines, i, deadline{current.expires, id})
	}
	n.keys[id] = current
}

// recordAll replaces everything that is known of the keys.
func (n *node) recordAll(current keyspace) {
	n.keys = keyspace{}
	n.tracker.deadlines = nil
	n.tracker.reset()
	for _, id := range n.sortedIDs(current) {
		n.recordKey(id, current[id])
	}
}

// firstExpiry returns the earliest time at which a key expires; ok is false if no key does.
// It drops deadlines that are out of date.
func (n *node) firstExpiry() (first time.Time, ok bool) {
	for d := &n.tracker.deadlines; len(*d) > 0; *d = (*d)[1:] {
		if next := (*d)[0]; n.keys[next.id].expires.Equal(next.at) {
			return next.at, true
		}
	}
	return time.Time{}, false
}

// visitSuspects calls visitGone for each key that no longer exists, and then visitExisting for each
// key that may have changed or is new. old is the entry that was known before; current is the one
// in miniredis.
func (n *node) visitSuspects(visitGone func(id keyID, old entry), visitExisting func(id keyID, old, current entry)) {
	suspects := n.takeSuspects()
	for _, id := range suspects {
		if old, existed := n.keys[id]; existed && !n.mini.DB(id.db).Exists(id.name) {
			visitGone(id, old)
		}
	}
	for _, id := range suspects {
		if current, exists := n.readKey(id); exists {
			visitExisting(id, n.keys[id], current)
		}
	}
}

// recordChanges compares the keys that may have changed with what is known of them, and records the
// changes in the trace, for the disk and for the replicas. by is the client whose command has
// caused them; nil means that keys have expired. It reports whether there were any changes.
func (n *node) recordChanges(by *trace.Actor) bool {
	var changes []keyChange
	n.visitSuspects(func(id keyID, old entry) {
		kind := trace.KindDelete
		if by == nil {
			kind = trace.KindExpire
		}
		n.host.Emit(n.goneEvent(kind, id, old, by))
		changes = append(changes, keyChange{id: id, isDeleted: true})
	}, func(id keyID, old, current entry) {
		if old.sameValueAndExpiry(current) {
			return
		}
		kind, prior := trace.KindSet, old.owner
		current.owner = by
		if old.sameValue(current) {
			kind, prior = trace.KindTouch, nil
			current.owner = old.owner
		}
		ev := n.keyEvent(kind, id, current)
		ev.By, ev.Prior = by, prior
		n.host.Emit(ev)
		changes = append(changes, keyChange{id: id, entry: current})
	})
	for _, e := range changes {
		if e.isDeleted {
			delete(n.keys, e.id)
		} else {
			n.recordKey(e.id, e.entry)
		}
	}
	if len(changes) == 0 {
		return false
	}
	n.planExpiry()
	n.disk.recordChanges(changes)
	n.repl.propagate(changes)
	return true
}

// A deadline is the time at which a key expires, by the node's wall clock.
type deadline struct {
	at time.Time
	id keyID
}
