package zookeeper

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A client is a member's end of a client's connection. It answers requests in the order in
// which they arrived: a request that has its result waits for the answers to earlier ones.
type client struct {
	m   *member
	end *sim.End
	// session is the ID of the client's session; 0 before the first message. isGreeted
	// reports whether the first message was answered, and closed whether the connection has
	// ended.
	session           int64
	isGreeted, closed bool
	timeout           int32 // the session's timeout, in milliseconds
	// knowsReadOnly reports whether the answer to the client's first message must contain
	// the flag read-only.
	knowsReadOnly bool
	identities    []ident // the identities that it has proved
	calls         []*call // the requests that have no answer yet, the oldest first
}

// A call is a request that has not been answered. It is done when its answer is known.
type call struct {
	c       *client
	r       *sim.Request
	q       *request
	serial  int // the member's number for the call, if it needs another member or a majority
	done    bool
	failure code // the error of a fault that makes the server fail; ok if there is none
	result  result
}

// Receive implements [sim.Endpoint].
func (c *client) Receive(r *sim.Request) { c.m.turn(func() { c.receive(r) }) }

// HangUp implements [sim.Endpoint].
func (c *client) HangUp(bool) {
	if c.m.host.IsUp() {
		c.forgetConnection()
	}
}

// receive handles a message of the client. A member that does not serve clients closes the
// connection.
func (c *client) receive(r *sim.Request) {
	q, whole := r.Body.(*request)
	if bad, is := r.Body.(garbage); is && bad.command != "" && !c.closed {
		c.m.doubt(bad.command)
	}
	switch {
	case c.closed:
	case !whole || !c.m.role.serves():
		c.close()
	case q.op == opConnect:
		c.connect(r, q)
	case q.op == opAuth:
		c.addAuth(r, q)
	default:
		q.session = c.session
		newCall := &call{c: c, r: r, q: q}
		c.calls = append(c.calls, newCall)
		if c.isGreeted {
			c.dispatch(newCall)
		}
	}
}

// connect handles the first message: it opens a session, or resumes an existing one.
func (c *client) connect(r *sim.Request, q *request) {
	m := c.m
	if q.lastSeenZxid > m.tree.zxid {
		c.close() // the client has seen changes that this member does not have yet
		return
	}
	q.timeout = m.limits.timeout(q.timeout)
	c.timeout, c.knowsReadOnly = q.timeout, q.knowsReadOnly
	newCall := &call{c: c, r: r, q: q}
	c.calls = append(c.calls, newCall)
	if q.session == 0 {
		m.lastSessionID++
		c.session = m.lastSessionID
		q.op, q.session = opOpen, c.session
		m.role.submit(newCall)
		return
	}
	// A client resumes a session on a new connection, so its old one is closed.
	for _, other := range slices.Clone(m.clients) {
		if other.session == q.session {
			other.close()
		}
	}
	c.session = q.session
	if !bytes.Equal(q.password, password(q.session)) {
		newCall.finishResume(false)
		return
	}
	m.role.resume(newCall)
}

// finishResume sets the result of a call by which a client wants to resume a session.
// isAlive says whether the session is still alive.
func (call *call) finishResume(isAlive bool) {
	r := result{op: opConnect}
	if !isAlive {
		r.code = errSessionExpired
	}
	call.finish(r)
}

// addAuth handles the request addAuth, by which a client proves an identity.
func (c *client) addAuth(r *sim.Request, q *request) {
	code := ok
	switch {
	case q.malformed:
		c.close()
		return
	case q.scheme == "digest":
		if id := digest(q.data); !slices.Contains(c.identities, id) {
			c.identities = append(c.identities, id)
		}
	case q.scheme != "ip":
		code = errAuthFailed
	}
	c.m.send(c.end, r, sim.Packet{Bytes: reply(q.xid, 0, code).framed(), Text: code.String()})
	if code != ok {
		c.close()
	}
}

// doubt makes the run inconclusive: a client has asked for something that only a real
// server does.
func (m *member) doubt(feature string) {
	m.host.Doubt(fmt.Sprintf("%s was asked for %s, which a real ZooKeeper server does and this one does not", m.name, feature))
}

// dispatch executes a request. A change or a sync is submitted to the member's role (leading or
// following), which may pass it to the leader. Any other request needs nobody else, and is executed
// when its turn to be answered comes.
func (c *client) dispatch(call *call) {
	m, q := c.m, call.q
	for _, call := range append([]*request{q}, q.ops...) {
		if call.flags == container || unsupportedOps[call.op] != "" {
			m.doubt(call.String())
		}
	}
	if ops[q.op] == "" || q.op == opConnect || q.op == opOpen {
		call.finish(result{op: q.op, code: errUnimplemented})
		return
	}
	if !m.role.touch(c.session) {
		return // the session is ending, and then this connection is closed
	}
	why := m.host.Failure()
	switch {
	case why != "" && q.op != opPing && q.op != opClose:
		call.failure = failureCode(why)
	case q.op.isChange() || q.op == opSync:
		m.role.submit(call)
		return
	}
	call.done = true
	c.drain()
}

// finish sets the result of a call, and answers it when all earlier ones are answered.
func (call *call) finish(r result) {
	call.result, call.done = r, true
	call.c.drain()
}

// drain answers the calls that are done, up to the first one that is not.
func (c *client) drain() {
	for len(c.calls) > 0 && c.calls[0].done && !c.closed {
		call := c.calls[0]
		c.calls = c.calls[1:]
		c.answer(call)
	}
}

// answer answers a call. A read gets its result only now, from the current tree.
func (c *client) answer(call *call) {
	switch q := call.q; {
	case q.op == opOpen, q.op == opConnect:
		c.answerConnect(call)
	case q.op == opPing:
		const ping = -2
		c.sendAnswer(call, ping, ok, nil, "")
	case call.failure != ok:
		c.sendAnswer(call, q.xid, call.failure, nil, "")
	case call.result.code == errSessionMoved:
		c.close() // the client has reconnected to another member, so this connection is out of date
	case q.malformed && !q.op.isChange():
		c.sendAnswer(call, q.xid, errMarshalling, nil, "")
	case q.op.isChange():
		code := call.result.code
		if q.op == opMulti && !q.malformed {
			code = ok // each operation has its own code
		}
		c.sendAnswer(call, q.xid, code, call.result.write, call.result.describe(c.m.host.Names()))
		if q.op == opClose {
			c.close()
		}
	default:
		c.read(call)
	}
}

// answerConnect answers the first message of a connection. Then it executes the requests that have
// arrived after it.
func (c *client) answerConnect(call *call) {
	q := call.q
	isAlive := call.result.code == ok
	var p sim.Packet
	timeout, session, secret := q.timeout, q.session, password(q.session)
	if isAlive {
		p.Text = fmt.Sprintf("%s, with a timeout of %v", sessionName(c.m.host.Names(), session), milliseconds(timeout))
		p.ClientEvents = c.aliveEvents()
	} else {
		p.Text = "session expired"
		timeout, session, secret = 0, 0, make([]byte, len(secret))
	}
	var w writer
	w.int(0)
	w.int(timeout)
	w.long(session)
	w.buffer(secret)
	if c.knowsReadOnly {
		w.bool(false)
	}
	p.Bytes = w.framed()
	c.m.send(c.end, call.r, p)
	if !isAlive {
		c.close()
		return
	}
	c.isGreeted = true
	for _, next := range slices.Clone(c.calls) {
		next.q.session = c.session
		c.dispatch(next)
	}
}

// aliveEvents returns the event that a client learns from any answer: its session is alive.
func (c *client) aliveEvents() []trace.Event {
	return []trace.Event{{
		Kind: trace.KindAlive, Peer: c.m.name,
		Session: sessionName(c.m.host.Names(), c.session), TTL: milliseconds(c.timeout),
	}}
}

// reply returns a writer with the header of an answer. xid is the client's number of the
// request.
func reply(xid int32, zxid int64, code code) *writer {
	w := &writer{}
	w.int(xid)
	w.long(zxid)
	w.int(int32(code))
	return w
}

// sendAnswer sends an answer. If the request succeeded, body writes what follows the
// header, and text is its text in the trace. Both may be empty.
func (c *client) sendAnswer(call *call, xid int32, code code, body func(*writer), text string) {
	w := reply(xid, c.m.tree.zxid, code)
	if code == ok && body != nil {
		body(w)
	}
	p := sim.Packet{Bytes: w.framed(), Text: code.String()}
	if code == ok && text != "" {
		p.Text = text
	}
	if c.m.tree.sessions[c.session] != nil && call.q.op != opClose {
		p.ClientEvents = c.aliveEvents()
	}
	c.m.send(c.end, call.r, p)
}

// read answers a request that changes nothing, and sets the watch that it may ask for.
func (c *client) read(call *call) {
	q, m := call.q, c.m
	n := m.tree.nodes[q.path]
	answer := func(code code, body func(*writer), text string) { c.sendAnswer(call, q.xid, code, body, text) }
	if call.result.code == errUnimplemented {
		answer(errUnimplemented, nil, "")
		c.close()
		return
	}
	switch q.op {
	case opSync:
		answer(call.result.code, func(w *writer) { w.string(q.path) }, "")
		return
	case opSetWatches:
		m.watches.restore(m.tree, c, q.watches)
		answer(ok, nil, "")
		return
	}
	watchers := m.watches.data
	if q.op == opGetChildren || q.op == opGetChildren2 {
		watchers = m.watches.child
	}
	if q.op == opExists && q.watch {
		addWatch(watchers, q.path, c)
	}
	switch {
	case n == nil:
		answer(errNoNode, nil, "")
		return
	case q.op == opGetACL && !allows(n.acl, permRead|permAdmin, c.identities),
		q.op != opGetACL && q.op != opExists && !allows(n.acl, permRead, c.identities):
		answer(errNoAuth, nil, "")
		return
	case q.watch:
		addWatch(watchers, q.path, c)
	}
	switch q.op {
	case opExists:
		answer(ok, func(w *writer) { w.stat(n) }, "it exists")
	case opGetData:
		m.recordRead(q.path, n, call.r.Sender())
		answer(ok, func(w *writer) { w.buffer(n.data); w.stat(n) }, fmt.Sprintf("version %d, %d bytes", n.version, len(n.data)))
	case opGetACL:
		acl := n.acl
		if !allows(acl, permAdmin, c.identities) {
			acl = redacted(acl)
		}
		answer(ok, func(w *writer) { w.acl(acl); w.stat(n) }, "")
	case opGetChildren, opGetChildren2:
		answer(ok, func(w *writer) {
			w.strings(n.children)
			if q.op == opGetChildren2 {
				w.stat(n)
			}
		}, describeChildren(m.host.Names(), n.children))
	}
}

// describeChildren returns the text of a list of children for the trace: their names if
// there are few, otherwise their number.
func describeChildren(names *sim.Names, children []string) string {
	const most = 3
	switch n := len(children); {
	case n == 0:
		return "no children"
	case n > most:
		return fmt.Sprintf("%d children", n)
	}
	text := ""
	for i, child := range children {
		if i > 0 {
			text += ", "
		}
		text += names.Value(withoutPrefix(child))
	}
	return text
}

// acl writes an access control list.
func (w *writer) acl(acl []permit) {
	w.int(int32(len(acl)))
	for _, p := range acl {
		w.int(p.perms)
		w.string(p.scheme)
		w.string(p.id)
	}
}

// write writes the result of a transaction as the body of an answer.
func (r result) write(w *writer) {
	switch r.op {
	case opCreate:
		w.string(r.path)
	case opCreate2:
		w.string(r.path)
		w.stat(r.node)
	case opSetData, opSetACL:
		w.stat(r.node)
	case opError:
		w.int(int32(r.code))
	case opMulti:
		for _, op := range r.ops {
			w.int(int32(op.op))
			w.bool(false)
			w.int(int32(op.code))
			op.write(w)
		}
		w.int(-1)
		w.bool(true)
		w.int(-1)
	}
}

// describe returns the text of the result for the trace; "" if the code says enough.
func (r result) describe(names *sim.Names) string {
	switch r.op {
	case opCreate, opCreate2:
		return "created " + describePath(names, r.path)
	case opSetData:
		return fmt.Sprintf("version %d", r.node.version)
	case opMulti:
		if r.code != ok {
			return r.code.String()
		}
	}
	return ""
}

// sessionEnded closes the connection because its session has ended. If the client has ended the
// session itself, the connection is closed only after the request to end the session was answered.
func (c *client) sessionEnded() {
	for _, call := range c.calls {
		if call.q.op == opClose && call.done {
			return
		}
	}
	c.close()
}

// close closes the connection, at the end of the turn (see [member.turn]).
func (c *client) close() {
	if c.closed {
		return
	}
	c.m.hangUp(c.end)
	c.forgetConnection()
}

// forgetConnection removes what the member keeps for the connection. The session is not
// affected.
func (c *client) forgetConnection() {
	c.closed = true
	c.m.watches.forget(c)
	c.m.clients = slices.DeleteFunc(c.m.clients, func(o *client) bool { return o == c })
	for _, call := range c.calls {
		delete(c.m.calls, call.serial)
	}
	c.calls = nil
}
