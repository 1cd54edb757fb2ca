// Package redis is a Redis server in a simulated world: miniredis for the commands,
// [script] for the scripts, and around them what a real server has besides.
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

// A node is a Redis server: miniredis for the commands, and around it what a real
// server has besides: expiry by its own wall clock, scripts, transactions, persistence,
// replication, and a process that can stop.
//
// Commands run on the loop, one at a time, as in Redis.
type node struct {
	host *sim.Host

	mini *instance // nil: the node is down
	wall time.Time // what miniredis was last told
	// seeded: miniredis draws from a source of its own. Making one takes longer
	// than several commands, and hardly any lock needs it.
	seeded bool
	dice   *rand.Rand // nil: RANDOMKEY has not been asked yet
	dbs    []int      // databases that were ever selected
	keys   keyspace
	// touched are those of the keys that may be something else by now.
	touched touched
	// selected are the databases of those who have selected one, by what miniredis
	// knows them by, and uncorrected is the one whose command it answers as it is.
	selected    map[any]int
	uncorrected *mserver.Peer
	// locked: a script or a transaction runs.
	locked bool
	spare  *inside // nil: there is none
	// blocked are the commands that wait, in the order in which they came.
	blocked []*blocked
	// scripts are those that the server knows, by their digests.
	scripts map[string]*script.Script
	// How many connections there are and were, and how many commands came.
	connected, accepted, commands int
	endings                       []ending // to be put right when the command is done
	// expiry rings at the next expiry.
	expiry *agenda.Alarm

	// epoch counts the crashes, and left is what the latest left on the disk.
	epoch int
	left  keyspace

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
	n.touched = touched{}
	n.selected = map[any]int{}
	n.scripts = nil
	n.connected, n.accepted, n.commands = 0, 0, 0
}

// halt ends the server, whose keys are lost.
func (n *node) halt() {
	instances.give(n.mini)
	n.mini = nil
	n.blocked = nil
}

// tick tells miniredis the time. It keeps what is left of each key's life, where
// Redis keeps the time at which it ends: so when the clock has gone back, what
// is left grows.
func (n *node) tick() {
	now := n.host.Clock().Now()
	if now.Equal(n.wall) {
		return
	}
	back := n.wall.Sub(now)
	if back > 0 {
		n.mini.DB(0) // whoever asks has it count the time until now
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

// A peer is the node's end of one connection of a client's.
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
	// subscribed: miniredis has had it subscribe to something.
	subscribed bool
	// over: the connection is, and nothing that comes on it is read.
	over bool
}

// Accept is as in [sim.Server]. One that comes from a node is the one over which it
// wants to be sent what changes.
func (n *node) Accept(end *sim.End) sim.Endpoint {
	if master := n.repl.Accept(end); master != nil {
		return master
	}
	r := &peer{n: n, end: end}
	r.out.host = n.host
	r.out.flush = func() { end.Written(r.reply) }
	r.mini = mserver.NewPeer(bufio.NewWriterSize(&r.out, 512))
	r.mini.Ctx = newConnection()
	n.connected++
	n.accepted++
	return r
}

func (r *peer) Receive(m *sim.Request) {
	switch {
	case r.over:
		return
	case r.busy:
		r.queued = append(r.queued, m)
		return
	}
	n := r.n
	if wrong, is := m.Body.(breach); is {
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
	case name == "POST", name == "HOST:": // a browser that was deceived: securityWarningCommand
		r.hangUp()
		return
	case r.fails(name, m):
		return
	case !n.mini.Server().IsRegisteredCommand(name):
		r.refuse(n.unknown(args))
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
	case n.repl.alone() && n.writes(name, args):
		r.refuse(errNoReplicas)
		return
	case name == "SELECT" && len(args) == 2:
		n.use(args[1])
	case name == "SUBSCRIBE", name == "PSUBSCRIBE":
		r.subscribed = true
	}
	if !n.seeded && slices.ContainsFunc(args, draws) {
		n.seeded = true
		n.mini.Seed(int(n.host.Seed()))
	}
	if r.tx == nil && blocks(name, args) {
		r.block(m, name, args)
		return
	}
	n.tick()
	if !r.transact(name, args) {
		n.mini.Server().Dispatch(r.mini, args)
	}
	if r.answered(m) {
		if r.mini.Closed() { // by QUIT
			r.hangUp()
		}
		n.serveBlocked()
	}
}

// answered sends the answer to a command. It reports whether the node is still up when it
// is known what the command has changed.
func (r *peer) answered(m *sim.Request) bool {
	r.served(m)
	if !r.n.host.Act() {
		return false
	}
	r.mini.Flush()
	r.reply()
	return true
}

// fails answers a command with an error if the node is to, and reports whether it
// did.
func (r *peer) fails(name string, m *sim.Request) bool {
	n := r.n
	why := n.host.Failure()
	if why == "" || m.Handshake() {
		return false
	}
	// As in rejectCommand of Redis's server.c, no transaction survives it.
	if r.tx != nil && name == "EXEC" {
		r.tx = nil
		n.answer(r.mini, "UNWATCH")
		why = "EXECABORT Transaction discarded because of: " + why
	}
	r.refuse(why)
	return true
}

// served looks at what a command has changed.
func (r *peer) served(m *sim.Request) {
	if !r.n.mayHaveChanged(m) {
		r.n.touched.names = r.n.touched.names[:0]
		return
	}
	r.n.end()
	if r.n.changed(m.By()) {
		r.offset = r.n.repl.offset
	}
}

// mayHaveChanged says whether there is anything to look at after a command: one that writes,
// or a key whose time is up.
func (n *node) mayHaveChanged(m *sim.Request) bool {
	args := m.Body.([]string)
	if !m.Handshake() && !n.mini.Server().IsReadOnlyCommand(strings.ToUpper(args[0])) {
		return true
	}
	first, ok := n.firstExpiry()
	return ok && !first.After(n.wall)
}

// unblock goes on after a blocking command.
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
	r.wrong(err)
	r.mini.Flush()
	r.reply()
}

// reply sends what miniredis has written: replies, and pushes that nothing asked for.
func (r *peer) reply() {
	b := r.out.take()
	for len(b) > 0 {
		size := respSize(b)
		if size == 0 {
			size = len(b)
		}
		p := sim.Packet{Bytes: b[:size:size], Text: tellReply(r.n.host.Names(), b[:size])}
		if b[0] == '>' {
			r.end.Send(p)
		} else {
			r.end.Reply(p)
		}
		b = b[size:]
	}
}

// hangUp ends the connection, when what was sent on it is.
func (r *peer) hangUp() {
	r.end.Close()
	r.HangUp(true)
}

// HangUp is as in [sim.Endpoint].
func (r *peer) HangUp(bool) {
	if r.over {
		return
	}
	r.over = true
	r.mini.Close()
	for _, b := range slices.Clone(r.n.blocked) {
		if b.by == r {
			b.leave()
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

// draws says whether a command, or a script, may draw at random.
func draws(word string) bool {
	const size = len("RAND")
	for i := range len(word) - size + 1 {
		// Most places can be told by one letter.
		switch word[i] {
		case 'R', 'r', 'S', 's':
			if at := word[i : i+size]; strings.EqualFold(at, "RAND") || strings.EqualFold(at, "SPOP") {
				return true
			}
		}
	}
	return false
}

// readOnlyCommand is what a replica makes of a command; it is not ok for one
// that writes. A script runs as its read-only variant.
func (n *node) readOnlyCommand(name string, args []string) ([]string, bool) {
	switch name {
	case "EVAL", "EVALSHA":
		return append([]string{name + "_RO"}, args[1:]...), true
	}
	if handshake(args) || n.mini.Server().IsReadOnlyCommand(name) {
		return args, true
	}
	switch name {
	case "SCRIPT", "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH", "ECHO", "TIME", "ROLE", "QUIT":
		return args, true
	}
	return nil, false
}

// use remembers a database, so that its keys are looked at too.
func (n *node) use(db string) {
	if i, err := strconv.Atoi(db); err == nil && !slices.Contains(n.dbs, i) {
		n.dbs = append(n.dbs, i)
		n.touched.all = true // it may have had keys before
	}
}

// ClockChanged is as in [sim.Server]: what is left of a key's life may have ended.
func (n *node) ClockChanged() {
	if n.host.Up() {
		n.expire()
	}
}

// expire removes the keys whose time is up by the node's wall clock, and plans
// the next look.
func (n *node) expire() {
	n.tick()
	n.changed(nil)
	n.plan()
}

// plan looks at the expiries again when the next one is due.
func (n *node) plan() {
	first, _ := n.firstExpiry()
	n.expiry.Set(first)
}

// Stop is as in [sim.Server].
func (n *node) Stop() {
	if n.mini != nil {
		n.halt()
	}
}

// An outbox takes what is written by goroutines that the loop does not wait for.
type outbox struct {
	host *sim.Host
	// flush has the loop take it.
	flush func()

	mu     sync.Mutex
	bytes  []byte
	posted bool
	closed bool
}

func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || !o.host.Hold(len(b)) {
		return len(b), nil
	}
	o.bytes = append(o.bytes, b...)
	if !o.posted {
		o.posted = true
		o.flush()
	}
	return len(b), nil
}

func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.bytes
	o.host.Drop(len(b))
	o.bytes = nil
	o.posted = false
	return b
}

func (o *outbox) discard() {
	o.take()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}
