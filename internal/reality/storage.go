package reality

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// The storageProcess is the storage that the lock protects. It is a part of the harness:
// its policies are those of package storage, and requests to it are messages like any
// other.
type storageProcess struct {
	r        *run
	store    *storage.Store
	pausedBy []*fault
	conns    []*storageConn
	// serving are the requests that have arrived and have not been served.
	serving []*request
}

func newStorage(r *run) *storageProcess {
	return &storageProcess{r: r, store: storage.New(r.cfg.Storage.Fencing)}
}

// A storageConn is a client's connection to the storage.
type storageConn struct {
	client            *client
	number            int
	requests, replies *stream
}

// A request is one request to the storage.
type request struct {
	s         *storageProcess
	conn      *storageConn
	actor     *trace.Actor
	req       storage.Request
	isChecked bool // the policy checks before it writes, and the check has accepted it
	isStalled bool // a fault holds it back
	response  storage.Response
	answered  bool
}

// connect returns the client's connection to the storage, which it makes if there is none.
func (c *client) connect() *storageConn {
	if c.storage != nil {
		return c.storage
	}
	c.storageConns++
	r := c.r
	conn := &storageConn{client: c, number: c.storageConns,
		requests: &stream{r: r, link: r.linkBetween(c.cfg.Name, trace.StorageName)},
		replies:  &stream{r: r, link: r.linkBetween(trace.StorageName, c.cfg.Name)},
	}
	c.storage = conn
	r.storage.conns = append(r.storage.conns, conn)
	r.emit(trace.Event{Kind: trace.KindConnect, Process: c.cfg.Name, Peer: trace.StorageName, Conn: conn.number})
	go conn.carry(conn.requests, func(*message) bool { return len(r.storage.pausedBy) == 0 })
	go conn.carry(conn.replies, func(*message) bool { return c.canAct() })
	return conn
}

// carry delivers the messages of one direction of the connection.
func (conn *storageConn) carry(s *stream, isReady func(*message) bool) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	for m := s.next(isReady); m != nil; m = s.next(isReady) {
		s.arrive(m)
		m.deliver()
	}
}

// callStorage sends a request to the storage and waits for the response, at most as long as
// the client's patience lasts.
func (s *section) callStorage(req storage.Request) (storage.Response, error) {
	c, r := s.c, s.c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	conn := c.connect()
	m := &message{event: trace.Event{
		Process: c.cfg.Name, Peer: trace.StorageName, Conn: conn.number, Section: s.number, Step: trace.Step(req.Op), Text: describeRequest(req),
	}}
	q := &request{s: r.storage, conn: conn, req: req, actor: &trace.Actor{Client: c.cfg.Name, Section: s.number}}
	m.deliver = q.serve
	conn.requests.send(m)
	q.actor.Sent = m.sent
	until := time.Duration(-1)
	if c.cfg.GivesUp > 0 {
		until = r.wakeAfter(c.cfg.GivesUp)
	}
	isLate := func() bool { return until >= 0 && r.now() >= until && c.canAct() }
	switch ok := r.await(func() bool { return q.answered || c.isDown || isLate() }); {
	case !ok || c.isDown:
		return storage.Response{}, errEnded
	case q.answered:
		return q.response, nil
	}
	// The request may still arrive: closing a connection recalls nothing.
	conn.requests.close()
	conn.replies.drop()
	c.storage = nil
	return storage.Response{}, fmt.Errorf("%w within %v", errGaveUp, c.cfg.GivesUp)
}

// describe returns an event about the request.
func (q *request) describe(kind trace.Kind) trace.Event {
	return trace.Event{
		Kind: kind, Process: trace.StorageName, Peer: q.conn.client.cfg.Name, By: q.actor,
		Section: q.actor.Section, Step: trace.Step(q.req.Op), Object: q.req.Object, Token: q.req.Token,
	}
}

// serve serves the request that has arrived, unless a fault holds it back. The mutex is
// held.
func (q *request) serve() {
	s := q.s
	s.serving = append(s.serving, q)
	if s.r.cfg.Storage.Fencing == storage.CheckThenWrite && q.req.Op == storage.Write {
		ev := q.describe(trace.KindCheck)
		ev.Text = s.store.Check(q.req)
		ev.OK = ev.Text == ""
		q.isChecked = ev.OK
		s.r.emit(ev)
		if !q.isChecked {
			q.apply()
			return
		}
	}
	s.r.intercept(trace.KindStall, q.describe(trace.KindStall), q)
	if !q.isStalled {
		q.apply()
		return
	}
	go func() { // other requests of the connection need not wait
		s.r.mu.Lock()
		defer s.r.mu.Unlock()
		if s.r.await(func() bool { return !q.isStalled && len(s.pausedBy) == 0 }) {
			q.apply()
			s.r.settle()
		}
	}()
}

// apply carries out the request, records it and sends the response.
func (q *request) apply() {
	s := q.s
	s.serving = slices.DeleteFunc(s.serving, func(o *request) bool { return o == q })
	do := s.store.Do
	if q.isChecked {
		do = s.store.Apply
	}
	resp := do(q.req)
	ev := q.describe(trace.KindServe)
	ev.OK, ev.Text = resp.Refused == "", resp.Refused
	ev.Version, ev.Replaced, ev.Value = resp.Version, resp.Replaced, q.req.Value
	s.r.emit(ev)
	s.r.settle() // a fault may wait for the answer that follows
	if q.conn.replies.isDropped {
		return
	}
	q.conn.replies.send(&message{
		event: trace.Event{
			Process: trace.StorageName, Peer: q.conn.client.cfg.Name, Conn: q.conn.number, Reply: true,
			Section: q.actor.Section, Step: trace.Step(q.req.Op), Text: describeResponse(q.req.Op, resp),
		},
		deliver: func() { q.response, q.answered = resp, true },
	})
}

// hasRequests reports whether a request is under way to the storage or has not been served.
func (s *storageProcess) hasRequests() bool {
	return len(s.serving) > 0 || slices.ContainsFunc(s.conns, func(c *storageConn) bool { return len(c.requests.queue) > 0 })
}

// isHeldUp reports whether a fault keeps requests from being served.
func (s *storageProcess) isHeldUp() bool {
	if len(s.pausedBy) > 0 || len(s.serving) > 0 {
		return true
	}
	return slices.ContainsFunc(s.conns, func(c *storageConn) bool {
		return len(c.requests.queue) > 0 && (c.requests.queue[0].isHeld || c.requests.link.cuts > 0)
	})
}

// pause implements [process].
func (s *storageProcess) pause(f *fault) bool {
	s.pausedBy = append(s.pausedBy, f)
	if len(s.pausedBy) == 1 {
		s.r.emit(trace.Event{Kind: trace.KindPause, Process: trace.StorageName, Text: string(trace.Stop)})
	}
	return true
}

// resume implements [process].
func (s *storageProcess) resume(f *fault) {
	s.pausedBy = slices.DeleteFunc(s.pausedBy, func(o *fault) bool { return o == f })
	if len(s.pausedBy) == 0 {
		s.r.emit(trace.Event{Kind: trace.KindResume, Process: trace.StorageName})
	}
}

// crash and restart are never called: [Check] refuses a crash of the storage.
func (s *storageProcess) crash(trace.Crash) {}
func (s *storageProcess) restart()          {}

// report records the final data of the storage.
func (s *storageProcess) report() {
	for _, o := range s.store.Objects() {
		version, value := s.store.Object(o)
		s.r.trace.Events = append(s.r.trace.Events, trace.Event{
			Seq: len(s.r.trace.Events) + 1, At: s.r.trace.End() + 1,
			Kind: trace.KindObject, Process: trace.StorageName, Object: o, Version: version, Value: value,
		})
	}
}

// describeRequest describes a request for the trace, such as "write x = client-1 (token
// 33)".
func describeRequest(r storage.Request) string {
	text := fmt.Sprintf("%s %s", r.Op, r.Object)
	if r.Value != "" {
		text += " = " + r.Value
	}
	if r.Token != 0 {
		text += fmt.Sprintf(" (token %d)", r.Token)
	}
	return text
}

// describeResponse describes a response for the trace, such as "applied as version 2".
func describeResponse(op storage.Op, r storage.Response) string {
	switch {
	case r.Refused != "":
		return "refused: " + r.Refused
	case op == storage.Write:
		return fmt.Sprintf("applied as version %d", r.Version)
	}
	return fmt.Sprintf("version %d", r.Version)
}
