package sim

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/storage"
)

// storageNode is the process of the storage.
type storageNode struct {
	w       *World
	p       *process
	store   *storage.Store
	objects []string
}

func newStorageNode(w *World, p *process, cfg Storage) *storageNode {
	return &storageNode{w: w, p: p, store: storage.New(cfg.Fencing)}
}

func (n *storageNode) accept(c *conn) endpoint { return &storagePeer{n, c} }

// The storage keeps its record on disk, so a crash costs only its connections.
func (n *storageNode) crash(Crash) {}
func (n *storageNode) restart()    {}
func (n *storageNode) stop()       {}

type storagePeer struct {
	n *storageNode
	c *conn
}

func (s *storagePeer) receive(m *message) {
	n := s.n
	req := m.body.(storage.Request)
	resp := n.store.Do(req)
	if !slices.Contains(n.objects, req.Object) {
		n.objects = append(n.objects, req.Object)
	}
	n.w.emit(Event{
		Kind: KindServe, Process: n.p.name, Peer: s.c.clientProcess.name,
		Section: m.ctx.section, Step: Step(req.Op), OK: resp.Refused == "",
		Object: req.Object, Version: resp.Version, Replaced: resp.Replaced, Value: req.Value, Token: req.Token, Text: resp.Refused,
	})
	n.w.act()
	if n.p.state == down {
		return
	}
	s.c.answer(&message{body: resp, text: tellResponse(req.Op, resp)}, false)
}

func (s *storagePeer) hangUp(bool) {}

// report records what the storage holds at the end of the run.
func (n *storageNode) report() {
	slices.Sort(n.objects)
	for _, o := range n.objects {
		version, value := n.store.Object(o)
		n.w.emit(Event{Kind: KindObject, Process: n.p.name, Object: o, Version: version, Value: value})
	}
}

func tellRequest(r storage.Request) string {
	told := fmt.Sprintf("%s %s", r.Op, r.Object)
	if r.Value != "" {
		told += " = " + r.Value
	}
	if r.Token != 0 {
		told += fmt.Sprintf(" (token %d)", r.Token)
	}
	return told
}

func tellResponse(op storage.Op, r storage.Response) string {
	switch {
	case r.Refused != "":
		return "refused: " + r.Refused
	case op == storage.Write:
		return fmt.Sprintf("applied as version %d", r.Version)
	}
	return fmt.Sprintf("version %d", r.Version)
}

// A storageLink is a client's connection to the storage. One request at a time
// is under way on it.
type storageLink struct {
	p      *process
	conn   *conn
	opened bool
	asked  *storageCall
}

type storageCall struct {
	request storage.Request
	done    func(storage.Response, error)
}

// connect opens the connection.
func (l *storageLink) connect() {
	w := l.p.w
	l.conn = w.connect(l.p, w.byName[StorageName], l, func(c *conn, err error) {
		l.conn, l.opened = c, err == nil
		if err != nil {
			l.finish(storage.Response{}, fmt.Errorf("dial %s: %w", StorageName, err))
		} else if l.asked != nil {
			l.send()
		}
	})
}

// call sends a request, over a new connection if the old one is gone.
func (l *storageLink) call(c *storageCall) {
	l.asked = c
	switch {
	case l.conn == nil || l.conn.client == nil:
		l.opened = false
		l.connect()
	case l.opened:
		l.send()
	}
}

func (l *storageLink) send() {
	l.conn.ask(&message{body: l.asked.request, text: tellRequest(l.asked.request), ctx: l.p.origin(false)})
}

// giveUp stops waiting for the answer. The request may still arrive.
func (l *storageLink) giveUp() {
	l.asked = nil
	l.conn.close()
}

func (l *storageLink) finish(r storage.Response, err error) {
	if call := l.asked; call != nil {
		l.asked = nil
		call.done(r, err)
	}
}

func (l *storageLink) receive(m *message) { l.finish(m.body.(storage.Response), nil) }

func (l *storageLink) hangUp(reset bool) {
	err := fmt.Errorf("read %s: %w", StorageName, errReset)
	if !reset {
		err = fmt.Errorf("read %s: the connection was closed", StorageName)
	}
	l.finish(storage.Response{}, err)
}
