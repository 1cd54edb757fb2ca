package consul

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/trace"
)

// serveKey serves the requests under /v1/kv/: reads, writes, deletions, and the acquisition
// and release of a key by a session.
func (s *server) serveKey(call *http1.Call, key string) {
	q := call.URL.Query()
	if call.Method != http.MethodGet && q.Has("recurse") {
		s.refuseUnknown(call, "/v1/kv/", "recurse")
		return
	}
	switch call.Method {
	case http.MethodGet:
		s.withQuery(call, func(wait *query) {
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
	conditionCount := 0 // how many of cas, acquire and release were given; one is allowed
	for _, name := range []string{"cas", "acquire", "release"} {
		if q.Has(name) {
			conditionCount++
		}
	}
	e := entry{Key: key}
	if len(call.Content) > 0 {
		e.Value = call.Content
	}
	cas, badCAS := parseNumber(q.Get("cas"), q.Has("cas"))
	flags, badFlags := parseNumber(q.Get("flags"), q.Has("flags"))
	e.Flags = flags
	switch {
	case key == "":
		refuse(call, http.StatusBadRequest, "Missing key name")
	case conditionCount > 1:
		refuse(call, http.StatusBadRequest, fmt.Sprintf("Conflicting flags: %v\n", q.Encode()))
	case badFlags != nil:
		refuse(call, http.StatusInternalServerError, badFlags.Error())
	case badCAS != nil:
		refuse(call, http.StatusInternalServerError, badCAS.Error())
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

// parseNumber parses the value of a parameter. It returns 0 if the parameter was not given.
func parseNumber(text string, given bool) (uint64, error) {
	if !given {
		return 0, nil
	}
	return strconv.ParseUint(text, 10, 64)
}

// acquire gives a key to a session, unless another session holds the key or the key's lock-delay
// has not ended. The lock-delay is a time after the end of a session, in which nobody can acquire
// the keys that the session held. An attempt during that time is not written to the log, so it
// takes no index.
func (s *server) acquire(call *http1.Call, e entry, id string) {
	if s.timers.Now() < s.store.delayedUntil[e.Key] {
		respond(call, false, nil, "no: lock-delay")
		return
	}
	index := s.store.nextIndex()
	holder := s.sessions.all[id]
	old := s.store.keys[e.Key]
	switch {
	case id == "":
		refuse(call, http.StatusInternalServerError, "raft apply failed: missing session")
		return
	case holder == nil:
		refuse(call, http.StatusInternalServerError, fmt.Sprintf("raft apply failed: invalid session %q", id))
		return
	case old != nil && old.Session != "" && old.Session != id:
		respond(call, false, nil, "no: another session holds it")
		return
	}
	e.Session, e.LockIndex, e.owner = id, 1, call.By()
	isHolder := old != nil && old.Session == id
	var prior *trace.Actor
	switch {
	case isHolder:
		e.LockIndex, prior = old.LockIndex, old.owner
	case old != nil:
		e.LockIndex = old.LockIndex + 1
	}
	changed := s.store.put(index, e)
	// If the session holds the key already, this is a new grant only if the client has
	// begun another critical section.
	if !isHolder || inAnotherSection(e.owner, prior) {
		s.store.keys[e.Key].owner = e.owner
		s.recordGrant(trace.KindSet, s.store.keys[e.Key], prior)
	}
	if changed {
		s.host.ChargeText(len(e.Key) + len(e.Value))
		s.notifyWaiters(e.Key)
	}
	respond(call, true, nil, fmt.Sprintf("yes: acquired for the %s time", ordinal(e.LockIndex)))
}

// inAnotherSection compares two acquisitions of a key by the same session: the new one, by, and the
// previous one. It reports whether by belongs to another client or to another section, which is a
// client's work under a lock.
func inAnotherSection(by, previous *trace.Actor) bool {
	return by != nil && previous != nil && (by.Client != previous.Client || by.Section != previous.Section)
}

// release takes a key away from the session that holds it. The key remains.
func (s *server) release(call *http1.Call, e entry, id string) {
	index := s.store.nextIndex()
	old := s.store.keys[e.Key]
	switch {
	case id == "":
		refuse(call, http.StatusInternalServerError, "raft apply failed: missing session")
		return
	case old == nil || old.Session != id:
		respond(call, false, nil, "no: the session does not hold it")
		return
	}
	e.LockIndex = old.LockIndex
	s.store.put(index, e)
	s.recordLoss(trace.KindDelete, old, call.By())
	s.notifyWaiters(e.Key)
	respond(call, true, nil, "yes")
}

// putKey writes the value of a key. If isConditional is true, it does so only if the latest
// change of the key has the given index; the index 0 means that the key must not exist. The
// holder of the key does not change.
func (s *server) putKey(call *http1.Call, e entry, isConditional bool, index uint64) {
	nextIndex := s.store.nextIndex()
	old := s.store.keys[e.Key]
	if isConditional && (index == 0) != (old == nil) || isConditional && old != nil && old.ModifyIndex != index {
		respond(call, false, nil, "no: it has changed")
		return
	}
	if old != nil {
		e.Session, e.LockIndex, e.owner = old.Session, 0, old.owner
	}
	if s.store.put(nextIndex, e) {
		s.host.ChargeText(len(e.Key) + len(e.Value))
		s.notifyWaiters(e.Key)
	}
	respond(call, true, nil, "yes")
}

// deleteKey deletes a key. With the parameter cas it does so only if the latest change of
// the key has the given index.
func (s *server) deleteKey(call *http1.Call, key string) {
	q := call.URL.Query()
	index, badCAS := parseNumber(q.Get("cas"), q.Has("cas"))
	switch {
	case key == "":
		refuse(call, http.StatusBadRequest, "Missing key name")
		return
	case badCAS != nil:
		refuse(call, http.StatusInternalServerError, badCAS.Error())
		return
	}
	now := s.store.nextIndex()
	old := s.store.keys[key]
	if q.Has("cas") && old != nil && old.ModifyIndex != index {
		respond(call, false, nil, "no: it has changed")
		return
	}
	if old != nil {
		s.remove(now, old, trace.KindDelete, call.By())
	}
	respond(call, true, nil, "yes")
}

// remove deletes an existing key and answers the queries that wait for a change of it. kind
// is the event that the trace gets if a session held the key.
func (s *server) remove(index uint64, old *entry, kind trace.Kind, by *trace.Actor) {
	s.store.delete(index, old.Key)
	if old.Session != "" {
		s.recordLoss(kind, old, by)
	}
	s.notifyWaiters(old.Key)
}

// read reads the given key or, if isPrefix, all keys that begin with it. It answers
// immediately, or when one of them has changed if the query wants to wait. See KVS.Get and
// KVS.List in https://github.com/hashicorp/consul/blob/v1.21.0/agent/consul/kvs_endpoint.go
func (s *server) read(key string, isPrefix bool, q *query) {
	q.key, q.isPrefix = key, isPrefix
	q.lookUp = func() (index uint64, found bool) {
		switch e := s.store.keys[key]; {
		case isPrefix:
			return s.store.latestIndex(key), true
		case e != nil:
			return e.ModifyIndex, true
		}
		return s.store.lastChange, false
	}
	q.answer = func(clientEvents []trace.Event) {
		index, _ := q.lookUp()
		found := s.store.keysUnder(key)
		if !isPrefix {
			found = slices.DeleteFunc(found, func(e *entry) bool { return e.Key != key })
		}
		switch {
		case len(found) == 0:
			q.call.Answer(http1.Answer{Status: http.StatusNotFound, Header: withCommonHeaders(queryHeaders(index)), Text: "not found", ClientEvents: clientEvents})
		case isPrefix:
			respond(q.call, found, queryHeaders(index), s.describeEntries(found), clientEvents...)
		default:
			respond(q.call, found, queryHeaders(index), s.describeEntry(found[0]), clientEvents...)
		}
	}
	s.answerOrWait(q)
}
