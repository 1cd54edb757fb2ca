package sim

import (
	"bufio"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	mserver "github.com/alicebob/miniredis/v2/server"

	"github.com/locksim/locksim/trace"
)

// A redisNode is a Redis server: miniredis for the commands, and around it what
// a real server has besides: expiry by its own wall clock, persistence,
// replication, and a process that can stop.
//
// Commands run on the loop, one at a time, as in Redis.
type redisNode struct {
	w   *World
	p   *process
	cfg Node

	mini *miniredis.Miniredis
	wall time.Time // what miniredis was last told
	// seeded: miniredis draws from a source of its own. Making one takes longer
	// than several commands, and hardly any lock needs it.
	seeded bool
	dbs    []int // databases that were ever selected
	keys   keyspace
	// selected are the databases of those who have selected one, by what miniredis
	// knows them by; queueing are those who have begun a transaction, and uncorrected
	// is the one whose command miniredis answers as it is.
	selected    map[any]int
	queueing    map[*mserver.Peer]bool
	uncorrected *mserver.Peer
	endings     []ending // to be put right when the command is done
	// failing are the faults because of which it answers commands with an error.
	failing []*FaultState
	// check numbers the looks at the next expiry: only the latest counts.
	check int

	// epoch counts the crashes, and left is what the latest left on the disk.
	epoch int
	left  keyspace

	disk disk
	repl replication
}

func newRedisNode(w *World, p *process, cfg Node) *redisNode {
	n := &redisNode{w: w, p: p, cfg: cfg, dbs: []int{0}, keys: keyspace{}}
	n.disk = disk{n: n, policy: cmp.Or(cfg.Persistence, NoPersistence), saved: keyspace{}}
	n.repl = replication{n: n, acked: map[*redisNode]int{}}
	n.boot()
	return n
}

// boot starts an empty server.
func (n *redisNode) boot() {
	n.mini = miniredis.NewMiniRedis()
	n.wall = n.p.clock.Now()
	n.mini.SetTime(n.wall)
	n.mini.ClockTTL(true)
	n.seeded = false
	n.selected = map[any]int{}
	n.queueing = map[*mserver.Peer]bool{}
	// Dial is what starts a server without a listener.
	if c, err := n.mini.Dial(); err == nil {
		c.Close()
	}
	n.mini.Server().SetPreHook(n.correct)
}

// tick tells miniredis the time. It keeps what is left of each key's life, where
// Redis keeps the time at which it ends: so when the clock has gone back, what
// is left grows.
func (n *redisNode) tick() {
	now := n.p.clock.Now()
	if now.Equal(n.wall) {
		return
	}
	back := n.wall.Sub(now)
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

// A redisPeer is the node's end of one connection.
type redisPeer struct {
	n    *redisNode
	c    *conn
	peer *mserver.Peer
	out  outbox
	// busy: a blocking command has not answered yet, and queued waits for it.
	busy   bool
	queued []*message
	// offset is the replication offset after the client's latest write.
	offset int
}

func (n *redisNode) accept(c *conn) endpoint {
	r := &redisPeer{n: n, c: c}
	r.out = outbox{w: n.w, flush: &request{process: n.p, class: classWrite, rank: c.clientProcess.index, sub: c.number}}
	r.out.flush.admit = r.reply
	r.peer = mserver.NewPeer(bufio.NewWriterSize(&r.out, 512))
	return r
}

func (r *redisPeer) receive(m *message) {
	if r.busy {
		r.queued = append(r.queued, m)
		return
	}
	n := r.n
	args, _ := m.body.([]string)
	if len(args) == 0 {
		return
	}
	name := strings.ToUpper(args[0])
	switch {
	case r.fails(name, args):
		return
	case !n.mini.Server().IsRegisteredCommand(name):
		r.refuse(unknownCommand(args))
		return
	case name == "WAIT" && len(args) == 3:
		n.repl.wait(r, args)
		return
	case n.repl.readOnly():
		var ok bool
		if args, ok = n.readOnlyCommand(name, args); !ok {
			r.refuse(errReadOnly)
			return
		}
	case name == "SELECT" && len(args) == 2:
		n.use(args[1])
	}
	if !n.seeded && slices.ContainsFunc(args, draws) {
		n.seeded = true
		n.mini.Seed(int(n.w.cfg.Seed))
	}
	if blocks(name, args) {
		r.busy = true
		epoch := n.epoch
		server := n.mini.Server()
		go func() {
			server.Dispatch(r.peer, args)
			r.peer.Flush()
			n.w.post(&request{process: n.p, class: classStep, rank: r.c.clientProcess.index, sub: r.c.number, admit: func() {
				if epoch == n.epoch {
					r.served(m)
					r.unblock()
				}
			}})
		}()
		return
	}
	n.tick()
	n.mini.Server().Dispatch(r.peer, args)
	r.served(m)
	n.w.act()
	if n.p.state == down {
		return
	}
	r.peer.Flush()
	r.reply()
}

// served looks at what a command has changed.
func (r *redisPeer) served(m *message) {
	r.n.end()
	if r.n.changed(&trace.Actor{Client: r.c.clientProcess.name, Section: m.ctx.section, Sent: m.ctx.send}) {
		r.offset = r.n.repl.offset
	}
}

// unblock goes on after a blocking command.
func (r *redisPeer) unblock() {
	r.busy = false
	queued := r.queued
	r.queued = nil
	for i, m := range queued {
		if r.busy {
			r.queued = append(r.queued, queued[i:]...)
			return
		}
		r.receive(m)
	}
}

// refuse answers with an error.
func (r *redisPeer) refuse(err string) {
	r.peer.WriteError(err)
	r.peer.Flush()
	r.reply()
}

// reply sends what miniredis has written.
func (r *redisPeer) reply() {
	b := r.out.take()
	for len(b) > 0 {
		size := respSize(b)
		if size == 0 {
			size = len(b)
		}
		r.c.answer(&message{bytes: b[:size:size], text: r.n.w.aliases.reply(b[:size])}, b[0] == '>')
		b = b[size:]
	}
}

func (r *redisPeer) hangUp(bool) {
	r.peer.Close()
	delete(r.n.selected, r.peer.Ctx)
	delete(r.n.queueing, r.peer)
	// miniredis ends a subscriber's goroutines when its last subscription ends.
	for _, cmd := range []string{"UNSUBSCRIBE", "PUNSUBSCRIBE"} {
		r.n.mini.Server().Dispatch(r.peer, []string{cmd})
	}
	r.out.discard()
}

// draws says whether a command, or a script, may draw at random.
func draws(word string) bool {
	word = strings.ToUpper(word)
	return strings.Contains(word, "RAND") || strings.Contains(word, "SPOP")
}

// blocks says whether a command may wait for other commands.
func blocks(name string, args []string) bool {
	switch name {
	case "BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP":
		return true
	case "XREAD", "XREADGROUP":
		return slices.ContainsFunc(args, func(a string) bool { return strings.EqualFold(a, "BLOCK") })
	}
	return false
}

// readOnlyCommand is what a replica makes of a command; it is not ok for one
// that writes. A script runs as its read-only variant.
func (n *redisNode) readOnlyCommand(name string, args []string) ([]string, bool) {
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
func (n *redisNode) use(db string) {
	if i, err := strconv.Atoi(db); err == nil && !slices.Contains(n.dbs, i) {
		n.dbs = append(n.dbs, i)
	}
}

func (n *redisNode) clockChanged() {
	if n.p.state != down {
		n.expire()
	}
}

// expire removes the keys whose time is up by the node's wall clock, and plans
// the next look.
func (n *redisNode) expire() {
	n.tick()
	n.changed(nil)
	n.plan()
}

// plan looks at the expiries again when the next one is due.
func (n *redisNode) plan() {
	n.check++
	first, ok := n.keys.firstExpiry()
	if !ok {
		return
	}
	at, ok := n.p.clock.NextWall(first)
	if !ok {
		return
	}
	check := n.check
	n.w.at(at, func() {
		if check == n.check && n.p.state != down {
			n.expire()
		}
	})
}

func (n *redisNode) stop() {
	for _, c := range n.w.conns {
		if c.serverProcess == n.p && c.server != nil {
			c.server.hangUp(true)
		}
	}
	n.mini.Close()
}

// An outbox takes what is written by goroutines that the loop does not wait for,
// and has the loop send it.
type outbox struct {
	w      *World
	bytes  []byte // guarded by w.io
	posted bool   // guarded by w.io
	closed bool   // guarded by w.io
	flush  *request
}

func (o *outbox) Write(b []byte) (int, error) {
	o.w.io.Lock()
	defer o.w.io.Unlock()
	if o.closed {
		return len(b), nil
	}
	o.bytes = append(o.bytes, b...)
	if !o.posted {
		o.posted = true
		o.w.postLocked(o.flush)
	}
	return len(b), nil
}

func (o *outbox) take() []byte {
	o.w.io.Lock()
	defer o.w.io.Unlock()
	b := o.bytes
	o.bytes = nil
	o.posted = false
	return b
}

func (o *outbox) discard() {
	o.take()
	o.w.io.Lock()
	o.closed = true
	o.w.io.Unlock()
}
