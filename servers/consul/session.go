package consul

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/trace"
)

// A session is a client's session. The exported fields are those that a real server shows,
// in its order.
type session struct {
	ID            string
	Name          string
	Node          string
	LockDelay     time.Duration
	Behavior      string
	TTL           string
	NodeChecks    []string
	ServiceChecks []struct{}
	CreateIndex   uint64
	ModifyIndex   uint64

	// client is the name of the client that has created the session.
	client string
	ttl    time.Duration // 0 means that it never expires
	timer  *agenda.Timer // ends the session when it expires
}

// The values of Behavior: when the session ends, its keys are released or deleted.
const behaviorRelease, behaviorDelete = "release", "delete"

// sessions are all sessions of a server, by ID.
type sessions struct {
	s   *server
	all map[string]*session
	// lastChange is the index of the latest change of any session.
	lastChange uint64
}

// createSession creates a session. A real server also ends a session when the health checks
// of its node fail. Here the session's node is the server itself, so that cannot happen.
func (s *server) createSession(call *http1.Call, _ string) {
	created := &session{Node: s.host.Node().Name, NodeChecks: []string{"serfHealth"}, LockDelay: defaultDelay}
	if len(call.Content) > 0 {
		if err := created.decode(call.Content); err != nil {
			refuse(call, http.StatusBadRequest, "Request decode failed: "+err.Error())
			return
		}
	}
	if why := created.validate(); why != "" {
		refuse(call, http.StatusInternalServerError, why)
		return
	}
	index := s.store.nextIndex()
	if created.Node != s.host.Node().Name {
		refuse(call, http.StatusInternalServerError, "apply failed: Missing node registration")
		return
	}
	if !slices.Equal(created.NodeChecks, []string{"serfHealth"}) && len(created.NodeChecks) > 0 || len(created.ServiceChecks) > 0 {
		s.reportUnserved(call, "a session with health checks")
	}
	created.ID = s.newID()
	created.CreateIndex, created.ModifyIndex = index, index
	if by := call.By(); by != nil {
		created.client = by.Client
	}
	s.sessions.all[created.ID] = created
	s.sessions.lastChange = index
	name := s.name(created.ID)
	s.host.Emit(trace.Event{Kind: trace.KindOpen, Peer: created.client, Session: name, TTL: created.ttl})
	s.sessions.renew(created)
	respond(call, struct{ ID string }{created.ID}, nil, fmt.Sprintf("%s, expires after %s", name, created.TTL), s.aliveEvents(created)...)
}

// decode sets the fields of a session to those of a client's request.
func (session *session) decode(b []byte) error {
	var fields struct {
		Name, Node, Behavior, TTL string
		LockDelay                 any
		NodeChecks                *[]string
		ServiceChecks             *[]struct{}
		Checks                    *[]string
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&fields); err != nil {
		return err
	}
	session.Name, session.Behavior, session.TTL = fields.Name, fields.Behavior, fields.TTL
	session.Node = cmp.Or(fields.Node, session.Node)
	if fields.NodeChecks != nil {
		session.NodeChecks = *fields.NodeChecks
	}
	if fields.ServiceChecks != nil {
		session.ServiceChecks = *fields.ServiceChecks
	}
	if fields.Checks != nil {
		session.NodeChecks = *fields.Checks
	}
	var delay time.Duration
	switch d := fields.LockDelay.(type) {
	case nil:
		return nil
	case string:
		var err error
		if delay, err = time.ParseDuration(d); err != nil {
			return err
		}
	case float64:
		delay = time.Duration(d)
	}
	if delay < lockDelayThreshold {
		delay *= time.Second
	}
	session.LockDelay = delay
	return nil
}

// validate checks a session, and sets its default Behavior and its ttl. It returns the text of an
// error if the session is invalid, or "".
func (session *session) validate() string {
	switch session.Behavior {
	case "":
		session.Behavior = behaviorRelease
	case behaviorRelease, behaviorDelete:
	default:
		return fmt.Sprintf("Invalid Behavior setting '%s'", session.Behavior)
	}
	if session.TTL == "" {
		return ""
	}
	ttl, err := time.ParseDuration(session.TTL)
	switch {
	case err != nil:
		return fmt.Sprintf("Session TTL '%s' invalid: %v", session.TTL, err)
	case ttl != 0 && (ttl < shortestTTL || ttl > longestTTL):
		return fmt.Sprintf("Invalid Session TTL '%d', must be between [%v=%v]", ttl, shortestTTL, longestTTL)
	}
	session.ttl = ttl
	return ""
}

// newID returns a random UUID.
func (s *server) newID() string {
	a, b := s.dice.Uint64(), s.dice.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}

// renewSession renews a session at the request of its client.
func (s *server) renewSession(call *http1.Call, id string) {
	renewed := s.sessions.all[id]
	if renewed == nil {
		refuse(call, http.StatusNotFound, fmt.Sprintf("Session id '%s' not found", id))
		return
	}
	s.sessions.renew(renewed)
	respond(call, []*session{renewed}, nil, fmt.Sprintf("expires after %s", renewed.TTL), s.aliveEvents(renewed)...)
}

// destroySession ends a session at the request of a client. A session that does not exist
// is no error.
func (s *server) destroySession(call *http1.Call, id string) {
	if existing := s.sessions.all[id]; existing != nil {
		s.sessions.end(existing, trace.KindCloseSession, call.By())
	}
	respond(call, true, nil, "yes")
}

// sessionInfo answers with a list that contains the session, or is empty if there is none.
// A query can wait for a change of it, such as its end.
func (s *server) sessionInfo(call *http1.Call, id string) {
	s.withQuery(call, func(q *query) {
		q.key = id
		q.lookUp = func() (uint64, bool) { return max(s.sessions.lastChange, 1), true }
		q.answer = func(clientEvents []trace.Event) {
			index, _ := q.lookUp()
			found, text := []*session{}, "nothing"
			if existing := s.sessions.all[id]; existing != nil {
				found, text = append(found, existing), s.name(id)
			}
			respond(call, found, queryHeaders(index), text, clientEvents...)
		}
		s.answerOrWait(q)
	})
}

// renew gives a session its whole time again, and records that for each lock that it holds.
func (ss *sessions) renew(session *session) {
	s := ss.s
	if session.ttl == 0 {
		return
	}
	s.timers.Stop(session.timer)
	session.timer = s.timers.After(ttlMultiplier*session.ttl, func() { ss.end(session, trace.KindExpireSession, nil) })
	for _, key := range s.locks {
		if e := s.store.keys[key]; e != nil && e.Session == session.ID {
			s.recordGrant(trace.KindTouch, e, nil)
		}
	}
}

// end ends a session, and releases or deletes its keys. During the session's lock-delay,
// nobody can acquire them. how is the event that the trace gets.
func (ss *sessions) end(session *session, how trace.Kind, by *trace.Actor) {
	s := ss.s
	index := s.store.nextIndex()
	s.timers.Stop(session.timer)
	delete(ss.all, session.ID)
	ss.lastChange = index
	ended := trace.Event{Kind: how, Peer: session.client, Session: s.name(session.ID)}
	if by.IsOperator() {
		ended.By = by
	}
	s.host.Emit(ended)
	lossKind := trace.KindDelete
	if how == trace.KindExpireSession {
		lossKind = trace.KindExpire
	}
	delay := min(session.LockDelay, longestDelay)
	for _, key := range slices.Sorted(maps.Keys(s.store.keys)) {
		old := s.store.keys[key]
		if old.Session != session.ID {
			continue
		}
		if delay > 0 {
			s.store.delayedUntil[key] = s.timers.Now() + int64(delay)
			s.store.lastDelays[key] = delay
		}
		if session.Behavior == behaviorDelete {
			s.remove(index, old, lossKind, by)
			continue
		}
		free := *old
		free.Session, free.owner = "", nil
		s.store.put(index, free)
		s.recordLoss(lossKind, old, by)
		s.notifyWaiters(key)
	}
	s.notifyWaiters(session.ID)
}
