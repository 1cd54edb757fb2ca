package redis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A keyspace is the data of a Redis server, as far as it can be saved on a disk, copied to
// a replica and shown in a trace.
type keyspace map[keyID]entry

// A keyID identifies a key: the number of its database and its name there.
type keyID struct {
	db   int
	name string
}

// describe returns the key as the trace shows it. A name that looks random, and is not the key of a
// lock, is replaced as in the commands of the trace: by a name that is equal in every run.
func (k keyID) describe(names *sim.Names) string {
	name := k.name
	if !names.IsKey(name) {
		name = names.Value(name)
	}
	if k.db == 0 {
		return name
	}
	return fmt.Sprintf("%s (database %d)", name, k.db)
}

// An entry is what a server knows of one key: its value, when it expires, and the client
// that set it.
type entry struct {
	// kind is the Redis type of the value, such as string or hash, and words are its
	// elements in a fixed order. expires is by the node's wall clock; the zero Time means
	// never.
	kind    string
	words   []string
	expires time.Time
	owner   *trace.Actor
}

// sameValue reports whether two entries have the same value, even if they expire at different
// times.
func (e entry) sameValue(o entry) bool { return e.kind == o.kind && slices.Equal(e.words, o.words) }

// sameValueAndExpiry reports whether two entries have the same value and expire at the same
// time.
func (e entry) sameValueAndExpiry(o entry) bool { return e.sameValue(o) && e.expires.Equal(o.expires) }

// hasExpired reports whether a key has expired by the time that miniredis was last set to.
func (n *node) hasExpired(e entry) bool { return !e.expires.IsZero() && !e.expires.After(n.miniTime) }

// clone returns a copy that can be changed independently.
func (k keyspace) clone() keyspace { return maps.Clone(k) }

// sortedIDs returns the IDs of all keys of k, as sortIDs sorts them.
func (n *node) sortedIDs(k keyspace) []keyID {
	// sortIDs gives a name to each random word that the trace has not shown yet. This first sorting
	// makes the order in which it does so independent of the order of the map.
	ids := slices.SortedFunc(maps.Keys(k), func(a, b keyID) int {
		return cmp.Or(cmp.Compare(a.db, b.db), strings.Compare(a.name, b.name))
	})
	n.sortIDs(ids)
	return ids
}

// sortIDs sorts keys by their database and by the names that the trace shows. If the keys were
// sorted by their own names, two keys with random names would have another order in each run.
func (n *node) sortIDs(ids []keyID) {
	names := n.host.Names()
	slices.SortFunc(ids, func(a, b keyID) int {
		return cmp.Or(cmp.Compare(a.db, b.db), strings.Compare(a.describe(names), b.describe(names)), strings.Compare(a.name, b.name))
	})
}

// readAllKeys returns all keys that miniredis has.
func (n *node) readAllKeys() keyspace {
	found := make(keyspace, len(n.keys)+1)
	for _, i := range n.usedDBs {
		for _, name := range n.mini.DB(i).Keys() {
			id := keyID{i, name}
			found[id], _ = n.readKey(id)
		}
	}
	return found
}

// readKey returns a key as miniredis has it; exists is false if there is no such key.
func (n *node) readKey(id keyID) (e entry, exists bool) {
	db := n.mini.DB(id.db)
	if !db.Exists(id.name) {
		return e, false
	}
	e.kind = db.Type(id.name)
	e.words = valueWords(db, e.kind, id.name)
	if ttl := db.TTL(id.name); ttl != 0 {
		e.expires = n.miniTime.Add(ttl)
	}
	return e, true
}

// valueWords returns the elements of a key's value: a hash as fields and values, a sorted
// set as members and scores. For streams and HyperLogLogs, which no lock uses, it returns
// nil.
func valueWords(db *miniredis.RedisDB, kind, name string) []string {
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

// writeKey writes a key into miniredis, in place of an existing key of that name. If e has already
// expired, the existing key is only deleted.
func (n *node) writeKey(id keyID, e entry) {
	if !slices.Contains(n.usedDBs, id.db) {
		n.usedDBs = append(n.usedDBs, id.db)
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
		if ttl := e.expires.Sub(n.miniTime); ttl > 0 {
			db.SetTTL(id.name, ttl)
		} else {
			db.Del(id.name)
		}
	}
}

// keyEvent returns an event for the trace about a key that exists.
func (n *node) keyEvent(kind trace.Kind, id keyID, e entry) trace.Event {
	ev := trace.Event{Kind: kind, Key: id.describe(n.host.Names()), Value: n.describeValue(e), Owner: e.owner}
	for _, word := range e.words {
		n.host.ChargeText(len(word))
	}
	if !e.expires.IsZero() {
		ev.TTL = e.expires.Sub(n.miniTime)
		// By true time, the key may live for a shorter or longer time than its TTL, because the
		// node's clock may drift.
		if at, ok := n.host.When(e.expires); ok {
			ev.Expires = at
		} else {
			ev.Expires = n.host.Now() + ev.TTL
		}
	}
	return ev
}

// goneEvent returns an event for the trace about a key that no longer exists. old is its last
// entry, and by is the client that has removed it. If the key has expired, the event says so,
// whatever kind and by are.
func (n *node) goneEvent(kind trace.Kind, id keyID, old entry, by *trace.Actor) trace.Event {
	if n.hasExpired(old) {
		kind, by = trace.KindExpire, nil
	}
	return trace.Event{Kind: kind, Key: id.describe(n.host.Names()), Value: n.describeValue(old), By: by, Owner: old.owner}
}

// describeValue returns a key's value as the trace shows it.
func (n *node) describeValue(e entry) string {
	words := make([]string, len(e.words))
	for i, word := range e.words {
		words[i] = n.host.Names().Value(word)
	}
	switch e.kind {
	case "string":
		return words[0]
	}
	return e.kind + "(" + strings.Join(words, " ") + ")"
}

// A keyChange is a change of one key, as the node sends it to its disk and its replicas.
type keyChange struct {
	id        keyID
	isDeleted bool // the key was deleted, so entry is empty
	entry     entry
}
