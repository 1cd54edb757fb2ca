// Package redis is a Redis server in a simulated world: miniredis for the commands,
// [script] for the scripts, and around them the other parts of a real server.
//
// It registers its card, [sim.System], under the name redis.
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
	"github.com/locksim/locksim/servers/redis/internal/script"
	"github.com/locksim/locksim/sim"
)

// A node is a Redis server: miniredis for the commands, and around it the other parts of a
// real server: expiry by its own wall clock, scripts, transactions, persistence,
// replication, and a process that can stop.
//
// Commands run on the loop, one at a time, as in Redis.
type node struct {
	host *sim.Host

	mini *instance // nil: the node is down
	wall time.Time // the time that miniredis was last set to
	// seeded: miniredis draws from a source of its own. Making one takes longer than
	// several commands, and few locks need it.
	seeded bool
	dice   *rand.Rand // nil: there was no RANDOMKEY yet
	dbs    []int      // databases that were ever selected
	keys   keyspace
	// tracker has the keys that may have changed.
	tracker changeTracker
	// selected are the databases of connections that have selected one, by miniredis's
	// context of the connection. uncorrected is the connection whose command is not
	// corrected.
	selected    map[any]int
	uncorrected *mserver.Peer
	// locked: a script or a transaction runs.
	locked     bool
	spareInner *innerConnection // nil: there is none
	// blocked are the waiting commands, in the order in which they came.
	blocked []*blockedCommand
	// scripts are the stored scripts, by their digests.
	scripts map[string]*script.Script
	// The numbers of current connections, of all connections, and of commands.
	connected, accepted, commands int
	pendingExpiries               []pendingExpiry // to be fixed after the command
	// expiry rings at the next expiry.
	expiry *agenda.Alarm

	// epoch counts the crashes, and survived is what the last crash left on the disk.
	epoch    int
	survived keyspace

	disk disk
	repl replication
}

func newNode(host *sim.Host) sim.Server {
	n := &node{host: host, dbs: []int{0}, keys: keyspace{}}
	n.expiry = agenda.NewAlarm(host, n.expire)
	n.disk = disk{n: n, policy: host.Node().Persistence, saved: keyspace{}}
	n.replicate()
	n.boot()
	return n
}

// boot starts an empty server.
func (n *node) boot() {
	n.mini = instances.take()
	n.wall = n.host.Clock().Now()
	n.mini.SetTime(n.wall)
	n.mini.Server().SetPreHook(n.correct)
	n.seeded = false
	n.dice = nil
	n.tracker = changeTracker{}
	n.selected = map[any]int{}
	n.scripts = nil
	n.connected, n.accepted, n.commands = 0, 0, 0
}

// halt ends the server, and its keys are lost.
func (n *node) halt() {
	instances.give(n.mini)
	n.mini = nil
	n.blocked = nil
}

// updateTime sets the time of miniredis. miniredis stores the rest of each key's life, and
// Redis the time at which it ends. So if the clock has gone back, the rest has to grow.
func (n *node) updateTime() {
	now := n.host.Clock().Now()
	if now.Equal(n.wall) {
		return
	}
	back := n.wall.Sub(now)
	if back > 0 {
		n.mini.DB(0) // this call makes it count the time until now
	}
	n.wall = now
	n.mini.SetTime(now)
	if back <= 0 {
		return
	}
	for _, i := range n.dbs {
		db := n.mini.DB(i)
		for _, k := range db.Keys() {
			if ttl := db.TTL(k); ttl > 0 {
				db.SetTTL(k, ttl+back)
			}
		}
	}
}

// A peer is the node's end of a client's connection.
type peer struct {
	n    *node
	end  *sim.End
	mini *mserver.Peer
	out  outbox
	// busy: a blocking command has not answered yet, and queued waits for it.
	busy   bool
	queued []*sim.Request
	// offset is the replication offset after the client's latest write.
	offset int
	tx     *transaction // nil: no MULTI
	// subscribed: miniredis may have subscriptions of it.
	subscribed bool
	// isClosed: the connection has ended, and nothing that comes on it is read.
	isClosed bool
}

// Accept is as in [sim.Server]. A connection from a node is one of a replica that wants the
// changes.
func (n *node) Accept(end *sim.End) sim.Endpoint {
	if master := n.repl.Accept(end); master != nil {
		return master
	}
	r := &peer{n: n, end: end}
	r.out.host = n.host
	r.out.flush = func() { end.RunAfterSteps(r.sendReplies) }
	r.mini = mserver.NewPeer(bufio.NewWriterSize(&r.out, 512))
	r.mini.Ctx = newConnectionCtx()
	n.connected++
	n.accepted++
	return r
}

func (r *peer) Receive(m *sim.Request) {
	switch {
	case r.isClosed:
		return
	case r.busy:
		r.queued = append(r.queued, m)
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
	n.commands++
	name := strings.ToUpper(args[0])
	switch {
	case name == "POST", name == "HOST:": // a browser that was deceived: see securityWarningCommand
		r.hangUp()
		return
	case r.replyFailure(name, m):
		return
	case !n.mini.Server().IsRegisteredCommand(name):
		r.refuse(n.refuseUnknown(args))
		return
	case name == "WAIT" && len(args) == 3 && r.tx == nil:
		n.repl.wait(r, args)
		return
	case n.repl.readOnly():
		var ok bool
		if args, ok = n.readOnlyCommand(name, args); !ok {
			r.refuse(errReadOnly)
			return
		}
	case n.repl.lacksReplicas() && n.writes(name, args):
		r.refuse(errNoReplicas)
		return
	case name == "SELECT" && len(args) == 2:
		n.rememberDB(args[1])
	case name == "SUBSCRIBE", name == "PSUBSCRIBE":
		r.subscribed = true
	}
	if !n.seeded && slices.ContainsFunc(args, mayDraw) {
		n.seeded = true
		n.mini.Seed(int(n.host.Seed()))
	}
	if r.tx == nil && canBlock(name, args) {
		r.runBlocking(m, name, args)
		return
	}
	n.updateTime()
	if !r.transact(name, args) {
		n.mini.Server().Dispatch(r.mini, args)
	}
	if r.sendAnswer(m) {
		if r.mini.Closed() { // by QUIT
			r.hangUp()
		}
		n.serveBlocked()
	}
}

// sendAnswer records what a command has changed and sends the answer. It reports whether
// the node is still up after the record: then the answer was sent.
func (r *peer) sendAnswer(m *sim.Request) bool {
	r.recordCommand(m)
	if !r.n.host.Act() {
		return false
	}
	r.mini.Flush()
	r.sendReplies()
	return true
}

// replyFailure answers a command with an error if a fault demands it, and reports whether
// it did.
func (r *peer) replyFailure(name string, m *sim.Request) bool {
	n := r.n
	why := n.host.Failure()
	if why == "" || m.IsHandshake() {
		return false
	}
	// As in rejectCommand of Redis's server.c, the error ends the transaction.
	if r.tx != nil && name == "EXEC" {
		r.tx = nil
		n.query(r.mini, "UNWATCH")
		why = "EXECABORT Transaction discarded because of: " + why
	}
	r.refuse(why)
	return true
}

// recordCommand records what a command has changed.
func (r *peer) recordCommand(m *sim.Request) {
	if !r.n.mayHaveChanged(m) {
		r.n.tracker.names = r.n.tracker.names[:0]
		return
	}
	r.n.fixExpiries()
	if r.n.recordChanges(m.Sender()) {
		r.offset = r.n.repl.offset
	}
}

// mayHaveChanged reports whether keys may have changed after a command: because it writes,
// or because a key's time is up.
func (n *node) mayHaveChanged(m *sim.Request) bool {
	args := m.Body.([]string)
	if !m.IsHandshake() && !n.mini.Server().IsReadOnlyCommand(strings.ToUpper(args[0])) {
		return true
	}
	first, ok := n.firstExpiry()
	return ok && !first.After(n.wall)
}

// unblock continues with the queued commands after a blocking command.
func (r *peer) unblock() {
	r.busy = false
	queued := r.queued
	r.queued = nil
	for i, m := range queued {
		if r.busy {
			r.queued = append(r.queued, queued[i:]...)
			return
		}
		r.Receive(m)
	}
}

// refuse answers with an error.
func (r *peer) refuse(err string) {
	r.writeError(err)
	r.mini.Flush()
	r.sendReplies()
}

// sendReplies sends what miniredis has written: replies, and pushes that no command asked
// for.
func (r *peer) sendReplies() {
	b := r.out.drain()
	for len(b) > 0 {
		size := respSize(b)
		if size == 0 {
			size = len(b)
		}
		p := sim.Packet{Bytes: b[:size:size], Text: describeReply(r.n.host.Names(), b[:size])}
		if b[0] == '>' {
			r.end.Send(p)
		} else {
			r.end.Reply(p)
		}
		b = b[size:]
	}
}

// hangUp ends the connection after everything on it was sent.
func (r *peer) hangUp() {
	r.end.Close()
	r.HangUp(true)
}

// HangUp is as in [sim.Endpoint].
func (r *peer) HangUp(bool) {
	if r.isClosed {
		return
	}
	r.isClosed = true
	r.mini.Close()
	for _, b := range slices.Clone(r.n.blocked) {
		if b.by == r {
			b.remove()
		}
	}
	r.n.connected--
	delete(r.n.selected, r.mini.Ctx)
	if r.subscribed {
		// miniredis ends a subscriber's goroutines when its last subscription ends.
		r.n.dispatch(r.mini, "UNSUBSCRIBE")
		r.n.dispatch(r.mini, "PUNSUBSCRIBE")
	}
	r.out.discard()
}

// mayDraw reports whether a command, or a script, may draw at random.
func mayDraw(word string) bool {
	const size = len("RAND")
	for i := range len(word) - size + 1 {
		// At most places one letter is enough to decide.
		switch word[i] {
		case 'R', 'r', 'S', 's':
			if at := word[i : i+size]; strings.EqualFold(at, "RAND") || strings.EqualFold(at, "SPOP") {
				return true
			}
		}
	}
	return false
}

// readOnlyCommand returns what a replica runs for a command; ok is false for a command that
// writes. A script runs as its read-only variant.
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

// rememberDB remembers a database, so that its keys are tracked too.
func (n *node) rememberDB(db string) {
	if i, err := strconv.Atoi(db); err == nil && !slices.Contains(n.dbs, i) {
		n.dbs = append(n.dbs, i)
		n.tracker.all = true // it may have had keys before
	}
}

// ClockChanged is as in [sim.Server]: keys may have expired.
func (n *node) ClockChanged() {
	if n.host.IsUp() {
		n.expire()
	}
}

// expire removes the keys that have expired by the node's wall clock, and plans the next
// check.
func (n *node) expire() {
	n.updateTime()
	n.recordChanges(nil)
	n.planExpiry()
}

// planExpiry plans a check for the next expiry.
func (n *node) planExpiry() {
	first, _ := n.firstExpiry()
	n.expiry.Set(first)
}

// Stop is as in [sim.Server].
func (n *node) Stop() {
	if n.mini != nil {
		n.halt()
	}
}

// An outbox collects what goroutines write that the loop does not wait for.
type outbox struct {
	host *sim.Host
	// flush makes the loop drain it.
	flush func()

	mu     sync.Mutex
	bytes  []byte
	posted bool
	closed bool
}

func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || !o.host.Reserve(len(b)) {
		return len(b), nil
	}
	o.bytes = append(o.bytes, b...)
	if !o.posted {
		o.posted = true
		o.flush()
	}
	return len(b), nil
}

func (o *outbox) drain() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.bytes
	o.host.Unreserve(len(b))
	o.bytes = nil
	o.posted = false
	return b
}

func (o *outbox) discard() {
	o.drain()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}
