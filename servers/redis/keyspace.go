package redis

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/locksim/locksim/trace"
)

// keyspace is what a Redis server holds, as far as it can be saved, copied to a
// replica and told to people.
type keyspace map[keyID]entry

type keyID struct {
	db   int
	name string
}

func (k keyID) String() string {
	if k.db == 0 {
		return k.name
	}
	return fmt.Sprintf("%s (database %d)", k.name, k.db)
}

// entry is one key: its value, when it ends by the node's wall clock (zero:
// never) and who set it.
type entry struct {
	kind    string
	words   []string // the value, in an order of its own
	expires time.Time
	owner   *trace.Actor
}

func (e entry) same(o entry) bool { return e.kind == o.kind && slices.Equal(e.words, o.words) }

func (k keyspace) clone() keyspace { return maps.Clone(k) }

// ids lists the keys in a fixed order.
func (k keyspace) ids() []keyID {
	ids := make([]keyID, 0, len(k))
	for id := range k {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, keyID.compare)
	return ids
}

func (k keyID) compare(o keyID) int {
	if k.db != o.db {
		return k.db - o.db
	}
	return strings.Compare(k.name, o.name)
}

// firstExpiry is the earliest time at which a key ends.
func (k keyspace) firstExpiry() (first time.Time, ok bool) {
	for _, e := range k {
		if !e.expires.IsZero() && (!ok || e.expires.Before(first)) {
			first, ok = e.expires, true
		}
	}
	return first, ok
}

// scan reads the keyspace of a running server.
func (n *node) scan() keyspace {
	found := make(keyspace, len(n.keys)+1)
	for _, i := range n.dbs {
		db := n.mini.DB(i)
		for _, name := range db.Keys() {
			e := entry{kind: db.Type(name)}
			e.words = words(db, e.kind, name)
			if ttl := db.TTL(name); ttl != 0 {
				e.expires = n.wall.Add(ttl)
			}
			found[keyID{i, name}] = e
		}
	}
	return found
}

// words is the value of a key as a list of strings. Streams and HyperLogLogs,
// which no lock keeps itself in, are seen but not what is in them.
func words(db *miniredis.RedisDB, kind, name string) []string {
	switch kind {
	case "string":
		s, _ := db.Get(name)
		return []string{s}
	case "hash":
		fields, _ := db.HKeys(name)
		slices.Sort(fields)
		var w []string
		for _, f := range fields {
			w = append(w, f, db.HGet(name, f))
		}
		return w
	case "list":
		w, _ := db.List(name)
		return slices.Clone(w)
	case "set":
		w, _ := db.Members(name)
		return w
	case "zset":
		members, _ := db.ZMembers(name)
		var w []string
		for _, m := range members {
			score, _ := db.ZScore(name, m)
			w = append(w, m, strconv.FormatFloat(score, 'g', -1, 64))
		}
		return w
	}
	return nil
}

// put writes a key into a running server.
func (n *node) put(id keyID, e entry) {
	if !slices.Contains(n.dbs, id.db) {
		n.dbs = append(n.dbs, id.db)
	}
	db := n.mini.DB(id.db)
	db.Del(id.name)
	switch e.kind {
	case "string":
		db.Set(id.name, e.words[0])
	case "hash":
		db.HSet(id.name, e.words...)
	case "list":
		db.Push(id.name, e.words...)
	case "set":
		db.SetAdd(id.name, e.words...)
	case "zset":
		for i := 0; i+1 < len(e.words); i += 2 {
			score, _ := strconv.ParseFloat(e.words[i+1], 64)
			db.ZAdd(id.name, score, e.words[i])
		}
	default:
		return
	}
	if !e.expires.IsZero() {
		if ttl := e.expires.Sub(n.wall); ttl > 0 {
			db.SetTTL(id.name, ttl)
		} else {
			db.Del(id.name)
		}
	}
}

// changed compares the server with what was known of it, and records the
// differences: by a command of an actor, or, without one, by the clock. It
// reports whether there were any.
func (n *node) changed(by *trace.Actor) bool {
	now := n.scan()
	var effects []effect
	for _, id := range n.keys.ids() {
		was := n.keys[id]
		if _, still := now[id]; still {
			continue
		}
		ev := trace.Event{Kind: trace.KindDelete, Key: id.String(), Value: n.tell(was), By: by, Owner: was.owner}
		if by == nil || !was.expires.IsZero() && !was.expires.After(n.wall) {
			ev.Kind, ev.By = trace.KindExpire, nil
		}
		n.host.Emit(ev)
		effects = append(effects, effect{id: id, gone: true})
	}
	for _, id := range now.ids() {
		is := now[id]
		was, existed := n.keys[id]
		is.owner = by
		ev := n.keyEvent(trace.KindSet, id, is)
		ev.By = by
		switch {
		case existed && was.same(is) && was.expires.Equal(is.expires):
			is.owner = was.owner
			now[id] = is
			continue
		case existed && was.same(is):
			is.owner = was.owner
			ev.Kind, ev.Owner = trace.KindTouch, was.owner
		case existed:
			ev.Prior = was.owner
		}
		now[id] = is
		n.host.Emit(ev)
		effects = append(effects, effect{id: id, entry: is})
	}
	n.keys = now
	if len(effects) == 0 {
		return false
	}
	n.plan()
	n.disk.wrote(len(effects))
	n.repl.propagate(effects)
	return true
}

// keyEvent is an event about a key that stands.
func (n *node) keyEvent(kind trace.Kind, id keyID, e entry) trace.Event {
	ev := trace.Event{Kind: kind, Key: id.String(), Value: n.tell(e), Owner: e.owner}
	for _, word := range e.words {
		n.host.Keeps(len(word))
	}
	if !e.expires.IsZero() {
		ev.TTL = e.expires.Sub(n.wall)
		if at, ok := n.host.When(e.expires); ok {
			ev.Expires = at
		} else {
			ev.Expires = n.host.Now() + ev.TTL
		}
	}
	return ev
}

// tell is a key's value as people see it.
func (n *node) tell(e entry) string {
	told := make([]string, len(e.words))
	for i, word := range e.words {
		told[i] = n.host.Names().Value(word)
	}
	switch e.kind {
	case "string":
		return told[0]
	}
	return e.kind + "(" + strings.Join(told, " ") + ")"
}

// An effect is a change of one key, as it goes to the disk and to replicas.
type effect struct {
	id    keyID
	gone  bool
	entry entry
}
