package reality

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// The storageProcess is the storage that the lock protects, a process that runs
// [ServeStorage]. Requests to it are messages like any other: the harness calls the process when
// a request has arrived.
type storageProcess struct {
	r *run
	// starting is held while the process is started. It must be locked before the mutex of the run.
	starting sync.Mutex
	child    *child
	conn     net.Conn // to the process
	pausedBy []*fault
	crashes  int // how many crashes have not ended
	isDown   bool
	conns    []*storageConn
	// serving are the requests that have arrived and have not been served.
	serving []*request
}

// newStorage starts the storage.
func newStorage(r *run) (s *storageProcess, err error) {
	s = &storageProcess{r: r}
	s.child, _, err = s.start()
	return s, err
}

// start starts the process, which reads its data from the disk, and returns which data a crash
// has lost.
func (s *storageProcess) start() (*child, []storage.Loss, error) {
	folder, err := s.r.processFolder(trace.StorageName)
	if err != nil {
		return nil, nil, err
	}
	c, _, stdout, err := s.r.guard.startProgram(s.r.options.Storage(folder, s.r.cfg.Storage.Fencing))
	if err != nil {
		return nil, nil, err
	}
	var ready storageReady
	if err := json.NewDecoder(stdout).Decode(&ready); err != nil {
		c.kill()
		return nil, nil, fmt.Errorf("the storage cannot be started: %w%s", err, c.lastWords())
	}
	if s.conn, err = net.Dial("tcp", ready.Address); err != nil {
		c.kill()
		return nil, nil, err
	}
	return c, ready.Losses, nil
}

// call calls the process, which must run, and waits for the answer. The mutex is held, so the
// process serves one call after the other.
func (s *storageProcess) call(c storageCall) (a storageAnswer) {
	c.KnownVersion = c.Request.KnownVersion
	_ = s.conn.SetDeadline(time.Now().Add(s.r.options.Setup))
	err := json.NewEncoder(s.conn).Encode(c)
	if err == nil {
		err = json.NewDecoder(s.conn).Decode(&a)
	}
	if err != nil {
		s.r.failure = cmp.Or(s.r.failure, fmt.Errorf("the storage does not answer: %w%s", err, s.child.lastWords()))
	}
	return a
}

// runs reports whether the process runs.
func (s *storageProcess) runs() bool { return !s.isDown && len(s.pausedBy) == 0 }

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
	isChecked bool // the storage checks tokens before a write, and has accepted this one
	isStalled bool // a fault holds it back
	isLost    bool // the storage has crashed before it has served the request
	response  storage.Response
	answered  bool
}

// connect returns the client's connection to the storage, which it makes if there is none.
func (c *client) connect() (*storageConn, error) {
	if c.storage != nil && !c.storage.replies.hasEnded() {
		return c.storage, nil
	}
	r := c.r
	if r.storage.isDown {
		r.emit(trace.Event{Kind: trace.KindRefuse, Process: c.cfg.Name, Peer: trace.StorageName, Text: "connection refused"})
		return nil, errRefusedDial
	}
	c.storageConns++
	conn := &storageConn{client: c, number: c.storageConns,
		requests: &stream{r: r, link: r.linkBetween(c.cfg.Name, trace.StorageName)},
		replies:  &stream{r: r, link: r.linkBetween(trace.StorageName, c.cfg.Name)},
	}
	c.storage = conn
	r.storage.conns = append(r.storage.conns, conn)
	r.emit(trace.Event{Kind: trace.KindConnect, Process: c.cfg.Name, Peer: trace.StorageName, Conn: conn.number})
	go conn.carry(conn.requests, func(*message) bool { return r.storage.runs() })
	go conn.carry(conn.replies, func(*message) bool { return c.canAct() })
	return conn, nil
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

// callStorage sends a request to the storage and waits for the response, at most until the
// client gives up.
func (s *section) callStorage(req storage.Request) (storage.Response, error) {
	c, r := s.c, s.c.r
	r.mu.Lock()
	defer r.mu.Unlock()
	conn, err := c.connect()
	if err != nil {
		return storage.Response{}, err
	}
	m := &message{event: trace.Event{
		Process: c.cfg.Name, Peer: trace.StorageName, Conn: conn.number, Section: s.number, Step: trace.Step(req.Op), Text: describeRequest(req),
	}}
	q := &request{s: r.storage, conn: conn, req: req, actor: &trace.Actor{Client: c.cfg.Name, Section: s.number}}
	m.deliver = q.serve
	conn.requests.send(m)
	q.actor.Sent = m.sendSeq
	until := time.Duration(-1)
	if c.cfg.GivesUp > 0 {
		until = r.wakeAfter(c.cfg.GivesUp)
	}
	isLate := func() bool { return until >= 0 && r.now() >= until && c.canAct() }
	isReset := func() bool { return conn.replies.hasEnded() && c.canAct() }
	switch ok := r.await(func() bool { return q.answered || c.isDown || isReset() || isLate() }); {
	case !ok || c.isDown:
		return storage.Response{}, errEnded
	case q.answered:
		return q.response, nil
	case isReset():
		c.storage = nil
		return storage.Response{}, errReset
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
		ev.Text = s.call(storageCall{Call: callCheck, Request: q.req}).Refused
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
		if s.r.await(func() bool { return q.isLost || !q.isStalled && s.runs() }) && !q.isLost {
			q.apply()
			s.r.settle()
		}
	}()
}

// apply carries out the request, records it and sends the response.
func (q *request) apply() {
	s := q.s
	s.serving = slices.DeleteFunc(s.serving, func(o *request) bool { return o == q })
	c := storageCall{Call: callDo, Request: q.req}
	if q.isChecked {
		c.Call = callApply
	}
	resp := s.call(c).Response
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
	if s.isDown {
		return false
	}
	s.pausedBy = append(s.pausedBy, f)
	if len(s.pausedBy) == 1 {
		stopGroup(s.child.cmd.Process.Pid)
		s.r.emit(trace.Event{Kind: trace.KindPause, Process: trace.StorageName, Text: string(trace.Stop)})
	}
	return true
}

// resume implements [process].
func (s *storageProcess) resume(f *fault) {
	s.pausedBy = slices.DeleteFunc(s.pausedBy, func(o *fault) bool { return o == f })
	if len(s.pausedBy) == 0 && !s.isDown {
		s.r.emit(trace.Event{Kind: trace.KindResume, Process: trace.StorageName})
		continueGroup(s.child.cmd.Process.Pid)
	}
}

// crash implements [process]. Requests that have not been served are lost, and the operating system
// resets the connections.
func (s *storageProcess) crash(how trace.Crash) {
	if s.crashes++; s.crashes > 1 {
		return
	}
	s.isDown, s.pausedBy = true, nil
	s.r.emit(trace.Event{Kind: trace.KindCrash, Process: trace.StorageName, Text: string(how)})
	if how == trace.Shutdown {
		shutDown(s.child.cmd.Process.Pid)
		continueGroup(s.child.cmd.Process.Pid) // a stopped process does not see the signal
	} else {
		killGroup(s.child.cmd.Process.Pid)
	}
	for _, q := range s.serving {
		q.isLost = true
	}
	s.serving = nil
	for _, f := range s.r.faults {
		if f.stalled != nil {
			f.lift()
		}
	}
	for _, c := range s.conns {
		if !c.replies.isDropped {
			c.requests.drop()
			c.replies.close()
		}
	}
}

// restart implements [process].
func (s *storageProcess) restart() {
	if s.crashes--; s.crashes == 0 {
		s.r.restarts.Go(s.startAgain)
	}
}

// startAgain starts the process after a crash, unless the run has ended or it has crashed once
// more.
func (s *storageProcess) startAgain() {
	s.starting.Lock()
	defer s.starting.Unlock()
	wanted := false
	isWanted := func() bool { return s.isDown && s.crashes == 0 && !s.r.ended }
	if s.r.do(func() { wanted = isWanted() }); !wanted {
		return
	}
	<-s.child.exited
	c, losses, err := s.start()
	s.r.do(func() {
		switch {
		case err != nil:
			s.r.failure = cmp.Or(s.r.failure, err)
		case !isWanted():
			killGroup(c.cmd.Process.Pid)
		default:
			s.child, s.isDown = c, false
			s.r.emit(trace.Event{Kind: trace.KindRestart, Process: trace.StorageName})
			s.recordLosses(losses)
		}
	})
}

// recordLosses records what the storage has lost in a crash. A process that is killed loses no
// data, but it may lose a token that it keeps only in memory.
func (s *storageProcess) recordLosses(losses []storage.Loss) {
	for _, l := range losses {
		s.r.emit(trace.Event{Kind: trace.KindForgetToken, Process: trace.StorageName, Object: l.Object, Token: l.OldToken, Text: "no token"})
	}
}

// reset cuts a client's connections to the storage. A request that has arrived is still served.
func (s *storageProcess) reset(client string) {
	for _, c := range s.conns {
		if c.client.cfg.Name != client || c.replies.hasEnded() {
			continue
		}
		c.requests.drop()
		c.replies.drop()
		s.r.emit(trace.Event{Kind: trace.KindReset, Process: client, Peer: trace.StorageName, Conn: c.number})
		s.r.emit(trace.Event{Kind: trace.KindReset, Process: trace.StorageName, Peer: client, Conn: c.number})
	}
}

// report records the final data of the storage, when the run has ended. If the process is down,
// report starts it once more to read the data from its disk.
func (s *storageProcess) report() (err error) {
	s.r.restarts.Wait()
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.isDown {
		<-s.child.exited
		if s.child, _, err = s.start(); err != nil {
			return err
		}
	}
	continueGroup(s.child.cmd.Process.Pid)
	for _, o := range s.call(storageCall{Call: callObjects}).Objects {
		s.r.trace.Events = append(s.r.trace.Events, trace.Event{
			Seq: len(s.r.trace.Events) + 1, At: s.r.trace.End() + 1,
			Kind: trace.KindObject, Process: trace.StorageName, Object: o.Object, Version: o.Version, Value: o.Value,
		})
	}
	return s.r.failure
}

// close ends the process, if there is one.
func (s *storageProcess) close() {
	if s != nil && s.child != nil {
		s.conn.Close()
		s.child.kill()
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
