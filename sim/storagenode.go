package sim

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A storageNode is the server of the storage process.
type storageNode struct {
	w     *World
	p     *process
	cfg   Storage
	store *storage.Store
	// servedAt is the true time at which each entry of the store's history was made.
	servedAt []time.Duration
	// machineLost reports that the storage's machine is lost for good, so the copy will
	// take over. copiedCount is how many entries of the history the copy had received by
	// then.
	machineLost bool
	copiedCount int
}

// newStorageNode returns the server of the storage process, with no data.
func newStorageNode(w *World, p *process, cfg Storage) *storageNode {
	return &storageNode{w: w, p: p, cfg: cfg, store: storage.New(cfg.Fencing)}
}

// accept is called for each connection of a client or a service.
func (n *storageNode) accept(c *conn) endpoint { return &storageEnd{n, c} }

// crash ends the storage, and every request that it serves.
func (n *storageNode) crash(how trace.Crash) {
	n.machineLost = how == trace.FailOver
	copiedUntil := n.w.now() - n.cfg.CopyLag
	n.copiedCount = len(n.servedAt)
	for n.copiedCount > 0 && n.servedAt[n.copiedCount-1] > copiedUntil {
		n.copiedCount--
	}
	for _, f := range n.w.faults {
		if _, request := f.heldBack.(*servedRequest); request {
			f.lift()
		}
	}
}

// restart starts the storage again with the data on its disk. If its machine is lost, it
// starts the copy instead. Only now the trace records what was lost, because nobody can
// read the storage before.
func (n *storageNode) restart() {
	if n.machineLost {
		n.recordLosses(n.store.FailOver(n.copiedCount))
		return
	}
	n.recordLosses(n.store.Crash())
}

// stop has nothing to do: the storage has no goroutines.
func (n *storageNode) stop() {}

// recordLosses records the writes and tokens that the storage lost in a crash.
func (n *storageNode) recordLosses(losses []storage.Loss) {
	for _, l := range losses {
		if l.Version != l.OldVersion {
			_, value := n.store.Object(l.Object)
			n.w.emit(trace.Event{Kind: trace.KindRevert, Process: n.p.name, Object: l.Object, Version: l.Version, Replaced: l.OldVersion, Value: value})
		}
		if l.Token != l.OldToken {
			ev := trace.Event{Kind: trace.KindForgetToken, Process: n.p.name, Object: l.Object, Token: l.OldToken, Text: "no token"}
			if l.Token != 0 {
				ev.Text = fmt.Sprintf("token %d", l.Token)
			}
			n.w.emit(ev)
		}
	}
}

// A storageEnd is the storage's end of one connection.
type storageEnd struct {
	n *storageNode
	c *conn
}

// A servedRequest is one request that the storage serves. A fault can hold it back, so it is an
// interceptable.
type servedRequest struct {
	peer    *storageEnd
	origin  origin
	req     storage.Request
	checked bool // the policy checks before it writes, and the check has accepted the request
	// halted reports that a fault holds the request back.
	halted bool
}

// receive serves a request, unless a fault holds the request back.
func (s *storageEnd) receive(m *message) {
	n := s.n
	v := &servedRequest{peer: s, origin: m.origin, req: m.body.(storage.Request)}
	if n.cfg.Fencing == storage.CheckThenWrite && v.req.Op == storage.Write {
		if !v.check() {
			v.serve()
			return
		}
		n.w.runDueActions() // so that a fault can strike between the check and the write
	}
	if !n.w.intercept(trace.KindStall, v) {
		v.proceed()
	}
}

// hangUp does nothing: a request that has arrived is served even if its client has gone.
func (s *storageEnd) hangUp(bool) {}

// describe returns an event about the request.
func (s *servedRequest) describe(kind trace.Kind) trace.Event {
	return trace.Event{
		Kind: kind, Process: s.peer.n.p.name, Peer: s.peer.c.clientProcess.name, By: s.origin.actor(),
		Section: s.origin.section, Step: trace.Step(s.req.Op), Object: s.req.Object, Token: s.req.Token,
	}
}

// check checks the request and records the result, if the policy checks and writes in two
// steps. It reports whether the request is accepted.
func (s *servedRequest) check() bool {
	ev := s.describe(trace.KindCheck)
	ev.Text = s.peer.n.store.Check(s.req)
	ev.OK = ev.Text == ""
	s.checked = ev.OK
	s.peer.n.w.emit(ev)
	return ev.OK
}

// serve carries out the request, records it and sends the response.
func (s *servedRequest) serve() {
	n := s.peer.n
	do := n.store.Do
	if s.checked {
		do = n.store.Apply
	}
	resp := do(s.req)
	n.servedAt = append(n.servedAt, n.w.now())
	ev := s.describe(trace.KindServe)
	ev.OK, ev.Text = resp.Refused == "", resp.Refused
	ev.Version, ev.Replaced, ev.Value = resp.Version, resp.Replaced, s.req.Value
	ev.Period = max(s.req.Period, resp.Period)
	n.w.emit(ev)
	n.w.runDueActions()
	if n.p.state == down {
		return
	}
	s.peer.c.reply(&message{body: resp, text: describeResponse(s.req.Op, resp)})
}

// halt holds the request back. It returns false if a fault already holds it back.
func (s *servedRequest) halt() bool {
	wasHalted := s.halted
	s.halted = true
	return !wasHalted
}

// proceed lets the request continue: now, or when the storage resumes from a pause. If the
// storage is down, the request is lost.
func (s *servedRequest) proceed() {
	switch n := s.peer.n; {
	case n.p.state == down:
	case n.p.isHalted():
		n.p.backlog = append(n.p.backlog, s.serve)
	default:
		s.serve()
	}
}

// report records the final data of the storage, at the end of the run.
func (n *storageNode) report() {
	for _, o := range n.store.Objects() {
		version, value := n.store.Object(o)
		n.w.emit(trace.Event{Kind: trace.KindObject, Process: n.p.name, Object: o, Version: version, Value: value})
	}
}

// recordFinalData records the final data of the storage process or of the cluster, at the
// end of the run.
func (w *World) recordFinalData() {
	if s := w.byName[trace.StorageName]; s != nil {
		s.server.(*storageNode).report()
		return
	}
	w.recordClusterData()
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
