package consul

import (
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// name returns the name of a session in the trace.
func (s *server) name(id string) string { return sessionName(s.host.Names(), id) }

// sessionName returns the name of a session in the trace; "" is no session.
func sessionName(names *sim.Names, id string) string {
	if id == "" {
		return "no session"
	}
	return names.Name("session", id)
}

// describe sets the text of a request in the trace, and says whether the request only
// checks the server or renews a session.
func describe(names *sim.Names, r *http1.Request, f *sim.Frame) {
	e, rest := route(r.URL.Path)
	if e == nil {
		f.Text = r.Method + " " + names.Value(r.URL.Path)
		return
	}
	switch e.path {
	case "/v1/kv/":
		f.Text = describeKey(names, r, rest)
	case "/v1/session/create":
		f.Text = "create a session"
	case "/v1/status/leader":
		f.Text, f.Handshake = "ask for the leader", true
	default:
		verb := strings.Trim(strings.TrimPrefix(e.path, "/v1/session/"), "/")
		f.Text = verb + " " + sessionName(names, rest)
		f.KeepAlive = verb == "renew"
	}
}

// describeKey returns the text of a request for a key.
func describeKey(names *sim.Names, r *http1.Request, key string) string {
	q := r.URL.Query()
	name := keyName(names, key)
	if q.Has("recurse") {
		name = "all keys under " + name
	}
	switch {
	case r.Method == http.MethodGet && q.Get("index") != "":
		return fmt.Sprintf("read %s once its index is above %s", name, names.Value(q.Get("index")))
	case r.Method == http.MethodGet:
		return "read " + name
	case r.Method == http.MethodDelete && q.Has("cas"):
		return fmt.Sprintf("delete %s if its index is %s", name, names.Value(q.Get("cas")))
	case r.Method == http.MethodDelete:
		return "delete " + name
	case q.Has("acquire"):
		return fmt.Sprintf("acquire %s for %s", name, sessionName(names, q.Get("acquire")))
	case q.Has("release"):
		return fmt.Sprintf("release %s of %s", name, sessionName(names, q.Get("release")))
	case q.Has("cas"):
		return fmt.Sprintf("put %s if its index is %s", name, names.Value(q.Get("cas")))
	}
	return r.Method + " " + name
}

// keyName returns the name of a key in the trace. The names of a semaphore's keys contain
// the session IDs of its holders, which are replaced by the names of the sessions.
func keyName(names *sim.Names, key string) string {
	if names.IsKey(key) {
		return key
	}
	if folder, last := path.Split(key); folder != "" && isSession(last) {
		return names.Value(folder) + sessionName(names, last)
	}
	return names.Value(key)
}

// isSession reports whether a word looks like a session ID.
func isSession(word string) bool { return len(word) == 36 && strings.Count(word, "-") == 4 }

// describeEntry returns the text of an answer with one key: its holder, and the index of
// its latest change.
func (s *server) describeEntry(e *entry) string {
	holder := "not held"
	if e.Session != "" {
		holder = "held by " + s.name(e.Session)
	}
	return fmt.Sprintf("%s, index %d", holder, e.ModifyIndex)
}

// describeEntries returns the text of an answer with several keys: their number, and how
// many of them are held by sessions.
func (s *server) describeEntries(all []*entry) string {
	held := 0
	for _, e := range all {
		if e.Session != "" {
			held++
		}
	}
	return strconv.Itoa(len(all)) + " keys, " + strconv.Itoa(held) + " of them held by sessions"
}

// ordinal returns 1st, 2nd and so on.
func ordinal(n uint64) string {
	suffix := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.FormatUint(n, 10) + suffix
}

// isLock reports whether a lock of the world is kept under a key. The trace has no events
// about other keys.
func (s *server) isLock(key string) bool { return s.host.Names().IsKey(key) }

// recordGrant records that a session holds a lock, and when the session expires if it is
// not renewed.
func (s *server) recordGrant(kind trace.Kind, e *entry, prior *trace.Actor) {
	session := s.sessions.all[e.Session]
	if session == nil || !s.isLock(e.Key) {
		return
	}
	ev := trace.Event{Kind: kind, Key: e.Key, Value: s.name(e.Session), By: e.owner, Owner: e.owner, Prior: prior, TTL: session.ttl}
	if session.timer != nil {
		ev.Expires, _ = s.timers.DueInTrueTime(session.timer)
	}
	s.host.Emit(ev)
}

// recordLoss records that a session no longer holds a lock.
func (s *server) recordLoss(kind trace.Kind, old *entry, by *trace.Actor) {
	if s.isLock(old.Key) {
		s.host.Emit(trace.Event{Kind: kind, Key: old.Key, Value: s.name(old.Session), By: by, Owner: old.owner})
	}
}

// aliveEvents returns the event for what a client learns from an answer: its session is alive. It
// returns nil for a session that never expires.
func (s *server) aliveEvents(session *session) []trace.Event {
	if session.ttl == 0 {
		return nil
	}
	return []trace.Event{{Kind: trace.KindAlive, Peer: s.host.Node().Name, Session: s.name(session.ID), TTL: session.ttl}}
}
