// Package redis simulates a Redis server. miniredis, a Redis server for tests that is written in
// Go, executes the commands, and [script] runs the Lua scripts. This package adds what miniredis
// lacks: expiry by the node's own clock, commands that wait, transactions with scripts,
// persistence, replication and crashes.
//
// The package registers its [sim.System], which describes Redis to the rest of the program, under
// the name redis.
package redis

import (
	"bufio"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	mserver "github.com/alicebob/miniredis/v2/server"

	"github.com/locksim/locksim/internal/agenda"
	"github.com/locksim/locksim/internal/resp"
	"github.com/locksim/locksim/servers/redis/internal/script"
	"github.com/locksim/locksim/sim"
)

// A node is a simulated Redis server. It executes one command at a time, as Redis does, on
// the loop: the goroutine of the world that calls all simulated servers.
type node struct {
	host *sim.Host

	mini     *instance // the miniredis that executes the commands; nil if the node is down
	miniTime time.Time // the time that miniredis was last set to
	// isMiniSeeded reports whether miniredis has a source of random numbers of its own.
	// Making a source takes longer than several commands, and few locks need it, so it is
	// made when a command may draw.
	isMiniSeeded    bool
	randomKeySource *rand.Rand // the source for RANDOMKEY; nil before the first RANDOMKEY
	usedDBs         []int      // the numbers of all databases that were ever selected
	// keys is what the trace says about the keys: the data after the latest recorded
	// change.
	keys keyspace
	// tracker lists the keys that may have changed since keys was updated.
	tracker changeTracker
	// selectedDB has the selected database of each connection that has selected one, by the
	// context that miniredis keeps for the connection.
	selectedDB map[any]int
	// uncorrectedPeer is the connection whose current command miniredis answers without
	// corrections; nil if there is none.
	uncorrectedPeer *mserver.Peer
	// isMiniLocked reports whether miniredis is locked because a script or a transaction is
	// running.
	isMiniLocked bool
	spareInner   *innerConnection // a closed inner connection that can be used again; nil if there is none
	// blocked are the commands that wait, such as BLPOP, in the order in which they
	// arrived.
	blocked []*blockedCommand
	// scripts are the scripts that EVALSHA can run, by their SHA-1 digests.
	scripts map[string]*script.Script
	// Counts since the start of the server: connections that are open, connections that
	// were ever accepted, and commands.
	openConnections, acceptedConnections, commandCount int
	pendingExpiries                                    []pendingExpiry // expiries that are to be corrected after the current command
	// expiryAlarm rings when the next key expires.
	expiryAlarm *agenda.Alarm

	// crashCount counts the crashes. A delayed call compares the count with the count when it was
	// planned, to find out whether the node has crashed since.
	crashCount int
	// survivingKeys is what the node will find on its disk when it restarts after the last
	// crash.
	survivingKeys keyspace

	disk disk
	repl replication
}

// newNode makes a node that runs and has no keys: the Boot of [sim.System].
func newNode(host *sim.Host) sim.Server {
	n := &node{host: host, usedDBs: []int{0}, keys: keyspace{}}
	n.expiryAlarm = agenda.NewAlarm(host, n.expire)
	n.disk = disk{n: n, policy: host.Node().Persistence, saved: keyspace{}}
	n.initReplication()
	n.boot()
	return n
}

// boot starts a server without keys, scripts and connections.
func (n *node) boot() {
	n.mini = instances.take()
	n.miniTime = n.host.Clock().Now()
	n.mini.SetTime(n.miniTime)
	n.mini.Server().SetPreHook(n.correct)
	n.isMiniSeeded = false
	n.randomKeySource = nil
	n.tracker = changeTracker{}
	n.selectedDB = map[any]int{}
	n.scripts = nil
	n.openConnections, n.acceptedConnections, n.commandCount = 0, 0, 0
}

// halt ends the server process. All that it has in memory is lost.
func (n *node) halt() {
	instances.give(n.mini)
	n.mini = nil
	n.blocked = nil
}

// updateTime sets the clock of miniredis to the node's wall clock.
//
// Redis stores the time at which a key expires, but miniredis stores how long the key has
// left. So if the wall clock was set back, updateTime adds the difference to what each key
// has left.
func (n *node) updateTime() {
	now := n.host.Clock().Now()
	if now.Equal(n.miniTime) {
		return
	}
	back := n.miniTime.Sub(now)
	if back > 0 {
		n.mini.DB(0) // this call makes miniredis subtract the time until now from what each key has left
	}
	n.miniTime = now
	n.mini.SetTime(now)
	if back <= 0 {
		return
	}
	for _, i := range n.usedDBs {
		db := n.mini.DB(i)
		for _, k := range db.Keys() {
			if ttl := db.TTL(k); ttl > 0 {
				db.SetTTL(k, ttl+back)
			}
		}
	}
}

// A clientConn is the node's end of a client's connection.
type clientConn struct {
	n   *node
	end *sim.End
	// miniPeer is the connection as miniredis sees it. What miniredis writes to it is
	// collected in out.
	miniPeer *mserver.Peer
	out      outbox
	// isBlocked reports whether a blocking command of the client has no answer yet. Later
	// requests wait in queuedRequests.
	isBlocked      bool
	queuedRequests []*sim.Request
	// writeOffset is the replication offset after the client's latest write: WAIT waits
	// until replicas have acknowledged it.
	writeOffset int
	tx          *transaction // the transaction since MULTI; nil if there is none
	// mayBeSubscribed reports whether the client has sent SUBSCRIBE or PSUBSCRIBE, so that
	// miniredis may run goroutines for it.
	mayBeSubscribed bool
	// isClosed reports whether the connection has ended. What still arrives on it is
	// ignored.
	isClosed bool
}

// Accept implements [sim.Server]. A connection from another node comes from a replica that
// wants this node's changes.
func (n *node) Accept(end *sim.End) sim.Endpoint {
	if master := n.repl.Accept(end); master != nil {
		return master
	}
	r := &clientConn{n: n, end: end}
	r.out.host = n.host
	r.out.flush = func() { end.RunAfterSteps(r.sendReplies) }
	r.miniPeer = mserver.NewPeer(bufio.NewWriterSize(&r.out, 512))
	r.miniPeer.Ctx = newConnectionCtx()
	n.openConnections++
	n.acceptedConnections++
	return r
}

// Receive implements [sim.Endpoint]: it executes one command and answers it, or queues it
// behind a command that blocks.
func (r *clientConn) Receive(m *sim.Request) {
	switch {
	case r.isClosed:
		return
	case r.isBlocked:
		r.queuedRequests = append(r.queuedRequests, m)
		return
	}
	n := r.n
	if wrong, is := m.Body.(protocolError); is {
		r.refuse("ERR Protocol error: " + string(wrong))
		r.hangUp()
		return
	}
	args, _ := m.Body.([]string)
	if len(args) == 0 {
		return
	}
	n.commandCount++
	name := toUpper(args[0])
	switch {
	case name == "POST", name == "HOST:": // a browser was tricked into sending HTTP to Redis: see securityWarningCommand
		r.hangUp()
		return
	case r.replyFailure(name, m):
		return
	case !n.mini.Server().IsRegisteredCommand(name):
		r.refuse(n.refuseUnknown(args))
		return
	case name == "WAIT" && len(args) == 3 && r.tx == nil:
		n.repl.serveWAIT(r, args)
		return
	case n.repl.isReadOnly():
		var ok bool
		if args, ok = n.readOnlyCommand(name, args); !ok {
			r.refuse(errReadOnly)
			return
		}
	case n.repl.lacksReplicas() && n.isWrite(name, args):
		r.refuse(errNoReplicas)
		return
	case name == "SELECT" && len(args) == 2:
		n.rememberDB(args[1])
	case name == "SUBSCRIBE", name == "PSUBSCRIBE":
		r.mayBeSubscribed = true
	}
	if !n.isMiniSeeded && slices.ContainsFunc(args, mayDraw) {
		n.isMiniSeeded = true
		n.mini.Seed(int(n.host.Seed()))
	}
	if r.tx == nil && canBlock(name, args) {
		r.runBlocking(m, name, args)
		return
	}
	n.updateTime()
	if !r.transact(name, args) {
		n.mini.Server().Dispatch(r.miniPeer, args)
	}
	if r.sendAnswer(m) {
		if r.miniPeer.Closed() { // after QUIT
			r.hangUp()
		}
		n.serveBlocked()
	}
}

// sendAnswer records what a command has changed and sends the answer. A fault may strike as soon as
// the changes are recorded. If it crashes the node, sendAnswer sends nothing and returns false.
func (r *clientConn) sendAnswer(m *sim.Request) bool {
	r.recordCommand(m)
	if !r.n.host.Act() {
		return false
	}
	r.miniPeer.Flush()
	r.sendReplies()
	return true
}

// replyFailure answers a command with an error if a fault [sim.Fail] is acting on the node, and
// reports whether it has answered.
func (r *clientConn) replyFailure(name string, m *sim.Request) bool {
	n := r.n
	failure := n.host.Failure()
	if failure == "" || m.IsHandshake() {
		return false
	}
	// As in rejectCommand of Redis's server.c, the error ends the transaction.
	if r.tx != nil && name == "EXEC" {
		r.tx = nil
		n.query(r.miniPeer, "UNWATCH")
		failure = "EXECABORT Transaction discarded because of: " + failure
	}
	r.refuse(failure)
	return true
}

// recordCommand records what a command has changed: in the trace, for the disk and for the
// replicas.
func (r *clientConn) recordCommand(m *sim.Request) {
	if !r.n.mayHaveChanged(m) {
		r.n.tracker.words = r.n.tracker.words[:0]
		return
	}
	r.n.fixExpiries()
	if r.n.recordChanges(m.Sender()) {
		r.writeOffset = r.n.repl.offset
	}
}

// mayHaveChanged reports whether any key may have changed during a command, because the command can
// write or because a key has expired meanwhile.
func (n *node) mayHaveChanged(m *sim.Request) bool {
	args := m.Body.([]string)
	if !m.IsHandshake() && !n.mini.Server().IsReadOnlyCommand(toUpper(args[0])) {
		return true
	}
	first, ok := n.firstExpiry()
	return ok && !first.After(n.miniTime)
}

// unblock executes the requests that have arrived while a command blocked. It stops at a
// request that blocks again.
func (r *clientConn) unblock() {
	r.isBlocked = false
	queued := r.queuedRequests
	r.queuedRequests = nil
	for i, m := range queued {
		if r.isBlocked {
			r.queuedRequests = append(r.queuedRequests, queued[i:]...)
			return
		}
		r.Receive(m)
	}
}

// refuse answers the current command with an error.
func (r *clientConn) refuse(err string) {
	r.writeError(err)
	r.miniPeer.Flush()
	r.sendReplies()
}

// sendReplies sends what miniredis has written to the client: replies to commands, and
// messages of subscriptions, which answer no command.
func (r *clientConn) sendReplies() {
	b := r.out.drain()
	for len(b) > 0 {
		size := resp.Size(b)
		if size == 0 {
			size = len(b)
		}
		p := sim.Packet{Bytes: b[:size:size], Text: resp.Describe(b[:size], r.n.host.Names().Value)}
		// This is a push of RESP 3, such as a message of a subscription.
		if b[0] == '>' {
			r.end.Send(p)
		} else {
			r.end.Reply(p)
		}
		b = b[size:]
	}
}

// hangUp closes the connection. What was already written is still sent.
func (r *clientConn) hangUp() {
	r.end.Close()
	r.HangUp(true)
}

// HangUp implements [sim.Endpoint]: it removes what the node keeps for the connection.
func (r *clientConn) HangUp(bool) {
	if r.isClosed {
		return
	}
	r.isClosed = true
	r.miniPeer.Close()
	for _, b := range slices.Clone(r.n.blocked) {
		if b.conn == r {
			b.remove()
		}
	}
	r.n.openConnections--
	delete(r.n.selectedDB, r.miniPeer.Ctx)
	if r.mayBeSubscribed {
		// miniredis ends a subscriber's goroutines when its last subscription ends.
		r.n.dispatch(r.miniPeer, "UNSUBSCRIBE")
		r.n.dispatch(r.miniPeer, "PUNSUBSCRIBE")
	}
	r.out.discard()
}

// mayDraw reports whether a word may be a command that draws random numbers, or a script
// that calls such a command: the names of these commands contain RAND or SPOP.
func mayDraw(word string) bool {
	const size = len("RAND")
	for i := range len(word) - size + 1 {
		// Usually the first letter rules the names out, without a comparison of the rest.
		switch word[i] {
		case 'R', 'r', 'S', 's':
			if at := word[i : i+size]; strings.EqualFold(at, "RAND") || strings.EqualFold(at, "SPOP") {
				return true
			}
		}
	}
	return false
}

// readOnlyCommand returns the command that a replica executes when a client sends the given one: a
// script runs as its read-only variant, and other commands are unchanged. It returns false if the
// command writes.
func (n *node) readOnlyCommand(name string, args []string) ([]string, bool) {
	switch name {
	case "EVAL", "EVALSHA":
		return append([]string{name + "_RO"}, args[1:]...), true
	}
	if isHandshake(args) || n.mini.Server().IsReadOnlyCommand(name) {
		return args, true
	}
	switch name {
	case "SCRIPT", "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH", "ECHO", "TIME", "ROLE", "QUIT":
		return args, true
	}
	return nil, false
}

// rememberDB adds a database to those whose keys are tracked.
func (n *node) rememberDB(db string) {
	if i, err := strconv.Atoi(db); err == nil && !slices.Contains(n.usedDBs, i) {
		n.usedDBs = append(n.usedDBs, i)
		n.tracker.anyKey = true // the database may have had keys before it was tracked
	}
}

// ClockChanged implements [sim.Server]. A clock that was set forward may have let keys
// expire.
func (n *node) ClockChanged() {
	if n.host.IsUp() {
		n.expire()
	}
}

// expire removes the keys that have expired by the node's wall clock, and sets the alarm
// for the next expiry.
func (n *node) expire() {
	n.updateTime()
	n.recordChanges(nil)
	n.planExpiry()
}

// planExpiry sets the alarm to the time at which the next key expires.
func (n *node) planExpiry() {
	first, _ := n.firstExpiry()
	n.expiryAlarm.Set(first)
}

// Stop implements [sim.Server]: the run has ended.
func (n *node) Stop() {
	if n.mini != nil {
		n.halt()
	}
}

// An outbox collects what miniredis writes to one client. Most of it is written on the
// loop. Messages of subscriptions are written by goroutines of miniredis, for which the
// loop does not wait, so a mutex protects the outbox.
type outbox struct {
	host *sim.Host
	// flush makes the loop send what was collected, soon. It may be called by any
	// goroutine.
	flush func()

	mu    sync.Mutex
	bytes []byte
	// isFlushPlanned reports whether flush was called since the last drain.
	isFlushPlanned bool
	isClosed       bool
}

// Write implements [io.Writer]. It never fails: if the world has no room for the bytes,
// they are dropped, and the world ends.
func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isClosed || !o.host.Reserve(len(b)) {
		return len(b), nil
	}
	o.bytes = append(o.bytes, b...)
	if !o.isFlushPlanned {
		o.isFlushPlanned = true
		o.flush()
	}
	return len(b), nil
}

// drain returns the collected bytes and removes them.
func (o *outbox) drain() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.bytes
	o.host.Unreserve(len(b))
	o.bytes = nil
	o.isFlushPlanned = false
	return b
}

// discard drops the collected bytes and all later ones.
func (o *outbox) discard() {
	o.drain()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.isClosed = true
}
