package consul

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/trace"
)

// kv serves requests for one key.
func (s *server) kv(call *http1.Call, key string) {
	q := call.URL.Query()
	if call.Method != http.MethodGet && q.Has("recurse") {
		s.refuseUnknown(call, "/v1/kv/", "recurse")
		return
	}
	switch call.Method {
	case http.MethodGet:
		s.wants(call, func(wait *query) {
			if key == "" && !q.Has("recurse") {
				refuse(call, http.StatusBadRequest, "Missing key name")
				return
			}
			s.read(key, q.Has("recurse"), wait)
		})
		return
	case http.MethodDelete:
		s.deleteKey(call, key)
		return
	}
	given := 0
	for _, name := range []string{"cas", "acquire", "release"} {
		if q.Has(name) {
			given++
		}
	}
	e := entry{Key: key}
	if len(call.Content) > 0 {
		e.Value = call.Content
	}
	cas, wrong := number(q.Get("cas"), q.Has("cas"))
	flags, bad := number(q.Get("flags"), q.Has("flags"))
	e.Flags = flags
	switch {
	case key == "":
		refuse(call, http.StatusBadRequest, "Missing key name")
	case given > 1:
		refuse(call, http.StatusBadRequest, fmt.Sprintf("Conflicting flags: %v\n", q.Encode()))
	case bad != nil:
		refuse(call, http.StatusInternalServerError, bad.Error())
	case wrong != nil:
		refuse(call, http.StatusInternalServerError, wrong.Error())
	case len(e.Value) > largestValue:
		refuse(call, http.StatusRequestEntityTooLarge, fmt.Sprintf("Request body(%d bytes) too large, max size: %d bytes. See %s.",
			len(e.Value), largestValue, "https://developer.hashicorp.com/docs/agent/config/config-files#kv_max_value_size"))
	case q.Has("acquire"):
		s.acquire(call, e, q.Get("acquire"))
	case q.Has("release"):
		s.release(call, e, q.Get("release"))
	default:
		s.putKey(call, e, q.Has("cas"), cas)
	}
}

// parseNumber parses a parameter, if it was given.
func number(text string, given bool) (uint64, error) {
	if !given {
		return 0, nil
	}
	return strconv.ParseUint(text, 10, 64)
}

// acquire gives a key to an existing session, unless another session holds it. During a
// lock-delay nobody gets the key, and the attempt does not even get an index.
func (s *server) acquire(call *http1.Call, e entry, id string) {
	if s.timers.Now() < s.store.delays[e.Key] {
		respond(call, false, nil, "no: lock-delay")
		return
	}
	index := s.store.next()
	holder := s.sessions.all[id]
	was := s.store.keys[e.Key]
	switch {
	case id == "":
		refuse(call, http.StatusInternalServerError, "raft apply failed: missing session")
		return
	case holder == nil:
		refuse(call, http.StatusInternalServerError, fmt.Sprintf("raft apply failed: invalid session %q", id))
		return
	case was != nil && was.Session != "" && was.Session != id:
		respond(call, false, nil, "no: it is taken")
		return
	}
	e.Session, e.LockIndex, e.by = id, 1, call.By()
	mine := was != nil && was.Session == id
	var prior *trace.Actor
	switch {
	case mine:
		e.LockIndex, prior = was.LockIndex, was.by
	case was != nil:
		e.LockIndex = was.LockIndex + 1
	}
	changed := s.store.put(index, e)
	if !mine || inAnotherSection(e.by, prior) {
		s.store.keys[e.Key].by = e.by
		s.holds(trace.KindSet, s.store.keys[e.Key], prior)
	}
	if changed {
		s.host.Keeps(len(e.Key) + len(e.Value))
		s.changed(e.Key)
	}
	respond(call, true, nil, fmt.Sprintf("yes, for the %s time", ordinal(e.LockIndex)))
}

// inAnotherSection reports whether a client that already holds a key through its session
// has acquired it again for another section.
func inAnotherSection(by, was *trace.Actor) bool {
	return by != nil && was != nil && (by.Client != was.Client || by.Section != was.Section)
}

// release takes a key from the session that holds it.
func (s *server) release(call *http1.Call, e entry, id string) {
	index := s.store.next()
	was := s.store.keys[e.Key]
	switch {
	case id == "":
		refuse(call, http.StatusInternalServerError, "raft apply failed: missing session")
		return
	case was == nil || was.Session != id:
		respond(call, false, nil, "no: it is not the session's")
		return
	}
	e.LockIndex = was.LockIndex
	s.store.put(index, e)
	s.lost(trace.KindDelete, was, call.By())
	s.changed(e.Key)
	respond(call, true, nil, "yes")
}

// putKey puts a key. If check is set, it does so only if the key was last changed at index;
// 0 means that the key must not exist. The holder of the key does not change.
func (s *server) putKey(call *http1.Call, e entry, check bool, index uint64) {
	now := s.store.next()
	was := s.store.keys[e.Key]
	if check && (index == 0) != (was == nil) || check && was != nil && was.ModifyIndex != index {
		respond(call, false, nil, "no: it has changed")
		return
	}
	if was != nil {
		e.Session, e.LockIndex, e.by = was.Session, 0, was.by
	}
	if s.store.put(now, e) {
		s.host.Keeps(len(e.Key) + len(e.Value))
		s.changed(e.Key)
	}
	respond(call, true, nil, "yes")
}

func (s *server) deleteKey(call *http1.Call, key string) {
	q := call.URL.Query()
	index, wrong := number(q.Get("cas"), q.Has("cas"))
	switch {
	case key == "":
		refuse(call, http.StatusBadRequest, "Missing key name")
		return
	case wrong != nil:
		refuse(call, http.StatusInternalServerError, wrong.Error())
		return
	}
	now := s.store.next()
	was := s.store.keys[key]
	if q.Has("cas") && was != nil && was.ModifyIndex != index {
		respond(call, false, nil, "no: it has changed")
		return
	}
	if was != nil {
		s.remove(now, was, trace.KindDelete, call.By())
	}
	respond(call, true, nil, "yes")
}

// remove deletes an existing key.
func (s *server) remove(index uint64, was *entry, how trace.Kind, by *trace.Actor) {
	s.store.delete(index, was.Key)
	if was.Session != "" {
		s.lost(how, was, by)
	}
	s.changed(was.Key)
}

// read reads a key, or all keys with a prefix, immediately or when one has changed: KVS.Get
// and KVS.List in
// https://github.com/hashicorp/consul/blob/v1.21.0/agent/consul/kvs_endpoint.go
func (s *server) read(key string, all bool, q *query) {
	q.key, q.all = key, all
	q.look = func() (index uint64, found bool) {
		switch e := s.store.keys[key]; {
		case all:
			return s.store.latest(key), true
		case e != nil:
			return e.ModifyIndex, true
		}
		return s.store.changed, false
	}
	q.answer = func(learns []trace.Event) {
		index, _ := q.look()
		found := s.store.under(key)
		if !all {
			found = slices.DeleteFunc(found, func(e *entry) bool { return e.Key != key })
		}
		switch {
		case len(found) == 0:
			q.call.Answer(http1.Answer{Status: http.StatusNotFound, Header: headers(meta(index)), Text: "nothing", Learns: learns})
		case all:
			respond(q.call, found, meta(index), s.tellEntries(found), learns...)
		default:
			respond(q.call, found, meta(index), s.tellEntry(found[0]), learns...)
		}
	}
	s.ask(q)
}
