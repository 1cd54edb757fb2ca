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

// name is what the trace calls a session.
func (s *server) name(id string) string { return sessionName(s.host.Names(), id) }

func sessionName(names *sim.Names, id string) string {
	if id == "" {
		return "no session"
	}
	return names.Name("session", id)
}

// tell says what a request asks for.
func tell(names *sim.Names, r *http1.Request, f *sim.Frame) {
	e, rest := route(r.URL.Path)
	if e == nil {
		f.Text = r.Method + " " + names.Value(r.URL.Path)
		return
	}
	switch e.path {
	case "/v1/kv/":
		f.Text = tellKey(names, r, rest)
	case "/v1/session/create":
		f.Text = "create a session"
	case "/v1/status/leader":
		f.Text, f.Handshake = "who leads", true
	default:
		verb := strings.Trim(strings.TrimPrefix(e.path, "/v1/session/"), "/")
		f.Text = verb + " " + sessionName(names, rest)
		f.KeepAlive = verb == "renew"
	}
}

func tellKey(names *sim.Names, r *http1.Request, key string) string {
	q := r.URL.Query()
	name := keyName(names, key)
	if q.Has("recurse") {
		name = "all under " + name
	}
	switch {
	case r.Method == http.MethodGet && q.Get("index") != "":
		return fmt.Sprintf("read %s when it has changed after %s", name, names.Value(q.Get("index")))
	case r.Method == http.MethodGet:
		return "read " + name
	case r.Method == http.MethodDelete && q.Has("cas"):
		return fmt.Sprintf("delete %s if it is as in %s", name, names.Value(q.Get("cas")))
	case r.Method == http.MethodDelete:
		return "delete " + name
	case q.Has("acquire"):
		return fmt.Sprintf("acquire %s for %s", name, sessionName(names, q.Get("acquire")))
	case q.Has("release"):
		return fmt.Sprintf("release %s of %s", name, sessionName(names, q.Get("release")))
	case q.Has("cas"):
		return fmt.Sprintf("put %s if it is as in %s", name, names.Value(q.Get("cas")))
	}
	return r.Method + " " + name
}

// keyName is what the trace calls a key. Those of a semaphore are called by sessions.
func keyName(names *sim.Names, key string) string {
	if names.IsKey(key) {
		return key
	}
	if under, last := path.Split(key); under != "" && isSession(last) {
		return names.Value(under) + sessionName(names, last)
	}
	return names.Value(key)
}

// isSession says whether a word has the form of a session's ID.
func isSession(word string) bool { return len(word) == 36 && strings.Count(word, "-") == 4 }

// tellEntry is what a key shows.
func (s *server) tellEntry(e *entry) string {
	whose := "nobody's"
	if e.Session != "" {
		whose = s.name(e.Session) + "'s"
	}
	return fmt.Sprintf("%s, changed in %d", whose, e.ModifyIndex)
}

// tellEntries is how many keys an answer shows, and how many of them sessions have.
func (s *server) tellEntries(all []*entry) string {
	had := 0
	for _, e := range all {
		if e.Session != "" {
			had++
		}
	}
	return strconv.Itoa(len(all)) + " keys, " + strconv.Itoa(had) + " of them a session's"
}

// ordinal is 1st, 2nd and so on.
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

// isLock says whether a key is one that a lock of the world is kept under: of others nothing
// is told.
func (s *server) isLock(key string) bool { return s.host.Names().IsKey(key) }

// holds tells that a session has a lock, and until when it has if nobody renews it.
func (s *server) holds(kind trace.Kind, e *entry, prior *trace.Actor) {
	one := s.sessions.all[e.Session]
	if one == nil || !s.isLock(e.Key) {
		return
	}
	ev := trace.Event{Kind: kind, Key: e.Key, Value: s.name(e.Session), By: e.by, Owner: e.by, Prior: prior, TTL: one.ttl}
	if one.timer != nil {
		ev.Expires, _ = s.timers.Expires(one.timer)
	}
	s.host.Emit(ev)
}

// lost tells that a session has a lock no more.
func (s *server) lost(kind trace.Kind, was *entry, by *trace.Actor) {
	if s.isLock(was.Key) {
		s.host.Emit(trace.Event{Kind: kind, Key: was.Key, Value: s.name(was.Session), By: by, Owner: was.by})
	}
}

// alive is what a client learns from the answer to its renewal.
func (s *server) alive(one *session) []trace.Event {
	if one.ttl == 0 {
		return nil
	}
	return []trace.Event{{Kind: trace.KindAlive, Peer: s.host.Node().Name, Session: s.name(one.ID), TTL: one.ttl}}
}
