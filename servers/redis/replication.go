package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// replication is a node's part in replication: a master sends its changes to its
// replicas, which acknowledge them.
type replication struct {
	n *node
	// A replica's side: its lag is on top of the network's.
	master *node
	lag    time.Duration
	// A master's side.
	offset   int
	replicas []*feed
	acked    map[*node]int
	waits    []*waiting
	// heard is when a master last heard of each replica whose connection is not over as far
	// as it knows, by its own clock; least and most say
	// of how many it must have, and how long ago that may be, in order to take a write.
	heard map[*node]time.Time
	least int
	most  time.Duration
	// replacedBy has taken this master's place; nil if none has.
	replacedBy *node
}

// A feed is the connection over which a master sends its changes to a replica.
type feed struct {
	master, replica *node
	// up is the master's end, and conn the replica's.
	up, conn   *sim.End
	connecting bool
	open       bool
}

// A waiting client has sent WAIT.
type waiting struct {
	peer   *peer
	enough int
	offset int
	done   bool
}

// Follow is as in [sim.Replica].
func (n *node) Follow(master string) { n.follow(n.host.Peer(master).(*node)) }

func (n *node) follow(master *node) {
	n.repl.master = master
	f := &feed{master: master, replica: n}
	master.repl.replicas = append(master.repl.replicas, f)
	f.attach()
}

// attach connects as soon as the replica can.
func (f *feed) attach() { f.replica.host.Running(f.connect) }

// connect has the replica ask its master for everything.
func (f *feed) connect() {
	if f.open || f.connecting || f.replica.repl.master != f.master {
		return
	}
	f.connecting = true
	end := &replicaEnd{f: f}
	f.replica.host.Connect(f.master.host.Node().Name, end, func(conn *sim.End, err error) {
		f.connecting = false
		if err != nil {
			f.retry()
			return
		}
		end.conn, f.conn = conn, conn
		f.open = true
		f.full()
		if f.master.repl.least > 0 {
			f.beat(conn)
		}
	})
}

// beat has the replica say once a second that it is there, as long as the connection lasts.
// Only who counts its replicas needs to know.
func (f *feed) beat(conn *sim.End) {
	host := f.replica.host
	host.At(host.Now()+time.Second, func() {
		host.Running(func() {
			if f.open && f.conn == conn {
				conn.Send(sim.Packet{Body: f.replica.repl.offset, Text: "is there", Background: true})
				f.beat(conn)
			}
		})
	})
}

// retry connects again after a second, as a replica does.
func (f *feed) retry() {
	f.open = false
	host := f.replica.host
	host.At(host.Now()+time.Second, f.attach)
}

// full sends the whole data set.
func (f *feed) full() {
	effects := make([]effect, 0, len(f.master.keys))
	for _, id := range f.master.keys.ids() {
		effects = append(effects, effect{id: id, entry: f.master.keys[id]})
	}
	f.send(update{offset: f.master.repl.offset, whole: true, effects: effects})
}

// An update is what a master tells a replica.
type update struct {
	offset  int
	whole   bool
	effects []effect
}

func (u update) String() string {
	if u.whole {
		return fmt.Sprintf("replicate everything (%d keys)", len(u.effects))
	}
	words := make([]string, len(u.effects))
	for i, e := range u.effects {
		verb := "set "
		if e.gone {
			verb = "delete "
		}
		words[i] = verb + e.id.String()
	}
	return "replicate " + strings.Join(words, ", ")
}

func (f *feed) send(u update) {
	f.up.Send(sim.Packet{Body: u, Text: u.String(), Delay: f.replica.repl.lag})
}

// masterEnd and replicaEnd are the two ends of a feed.
type masterEnd struct{ f *feed }

func (e masterEnd) Receive(m *sim.Request) {
	repl := &e.f.master.repl
	repl.acked[e.f.replica] = m.Body.(int)
	repl.heard[e.f.replica] = repl.n.host.Clock().Now()
	repl.wake()
}

// HangUp is what a master learns of a replica that has left, even one that follows another
// by then: if it can hear of that.
func (e masterEnd) HangUp(bool) {
	e.f.open = false
	delete(e.f.master.repl.heard, e.f.replica)
}

type replicaEnd struct {
	f    *feed
	conn *sim.End
}

func (e *replicaEnd) Receive(m *sim.Request) {
	u := m.Body.(update)
	n := e.f.replica
	if n.repl.master != e.f.master {
		return // a replica has been promoted while this was on its way
	}
	n.apply(u)
	e.conn.Send(sim.Packet{Body: u.offset, Text: "acknowledge " + strconv.Itoa(u.offset)})
}

func (e *replicaEnd) HangUp(bool) {
	if e.f.conn == e.conn {
		e.f.retry()
	}
}

// apply makes a replica's data what the master's is.
func (n *node) apply(u update) {
	n.tick()
	if u.whole {
		for _, id := range n.keys.ids() {
			n.mini.DB(id.db).Del(id.name)
		}
		n.touched.all = true
	}
	owners := map[keyID]*trace.Actor{}
	for _, e := range u.effects {
		n.touched.names = append(n.touched.names, e.id.name)
		if e.gone {
			n.mini.DB(e.id.db).Del(e.id.name)
			continue
		}
		n.put(e.id, e.entry)
		owners[e.id] = e.entry.owner
	}
	n.replicated(owners)
	n.repl.offset = u.offset
	n.serveBlocked()
}

// replicated records what an update changed. The owners are those of the master.
func (n *node) replicated(owners map[keyID]*trace.Actor) {
	suspects := n.suspects()
	for _, id := range suspects {
		was, existed := n.keys[id]
		if _, stands := n.read(id); stands || !existed {
			continue
		}
		kind := trace.KindDelete
		if !was.expires.IsZero() && !was.expires.After(n.wall) {
			kind = trace.KindExpire
		}
		n.host.Emit(trace.Event{Kind: kind, Key: id.String(), Value: n.tell(was), Owner: was.owner})
		delete(n.keys, id)
	}
	for _, id := range suspects {
		is, stands := n.read(id)
		if !stands {
			continue
		}
		was := n.keys[id]
		is.owner = was.owner
		if owner, ok := owners[id]; ok {
			is.owner = owner
		}
		if !was.same(is) || !was.expires.Equal(is.expires) {
			n.host.Emit(n.keyEvent(trace.KindRestore, id, is))
		}
		n.know(id, is)
	}
	n.disk.missed = true
	n.plan()
}

// propagate sends changes to the replicas. What expires while the node is paused
// is known to it, and to them, when it resumes.
func (r *replication) propagate(effects []effect) {
	r.n.host.Running(func() {
		r.offset++
		for _, f := range r.replicas {
			if f.open {
				f.send(update{offset: r.offset, effects: slices.Clone(effects)})
			}
		}
	})
}

func (r *replication) readOnly() bool { return r.master != nil }

// wait serves WAIT: it answers when enough replicas have acknowledged the
// client's latest write, or after a while, with how many have.
func (r *replication) wait(p *peer, args []string) {
	enough, err1 := strconv.Atoi(args[1])
	timeout, err2 := strconv.Atoi(args[2])
	switch {
	case err1 != nil:
		p.refuse(errNotAnInteger)
		return
	case err2 != nil:
		p.refuse("ERR timeout is not an integer or out of range")
		return
	case timeout < 0:
		p.refuse("ERR timeout is negative")
		return
	}
	waiting := &waiting{peer: p, enough: enough, offset: p.offset}
	p.busy = true
	r.waits = append(r.waits, waiting)
	if timeout > 0 {
		r.n.host.Clock().AfterFunc(time.Duration(timeout)*time.Millisecond, func() {
			p.end.Done(func() { r.answer(waiting) })
		})
	}
	r.wake()
}

// reached counts the replicas that have everything up to an offset.
func (r *replication) reached(offset int) int {
	count := 0
	for _, f := range r.replicas {
		if acked, ok := r.acked[f.replica]; ok && acked >= offset {
			count++
		}
	}
	return count
}

func (r *replication) wake() {
	for _, w := range slices.Clone(r.waits) {
		if r.reached(w.offset) >= w.enough {
			r.answer(w)
		}
	}
}

func (r *replication) answer(w *waiting) {
	if w.done || !r.n.host.Up() {
		return
	}
	w.done = true
	r.waits = slices.DeleteFunc(r.waits, func(o *waiting) bool { return o == w })
	w.peer.mini.WriteInt(r.reached(w.offset))
	w.peer.mini.Flush()
	w.peer.reply()
	w.peer.unblock()
}

func (r *replication) crash() {
	r.waits = nil
	clear(r.acked)
	clear(r.heard)
	for _, f := range r.replicas {
		f.open = false
	}
	if f := r.feed(); f != nil {
		f.open, f.connecting = false, false
	}
}

// feed is where a replica gets its data from; nil for a master.
func (r *replication) feed() *feed {
	if r.master == nil {
		return nil
	}
	feeds := r.master.repl.replicas
	return feeds[slices.IndexFunc(feeds, func(f *feed) bool { return f.replica == r.n })]
}

// restart connects a replica to its master again, which then sends everything.
func (r *replication) restart() {
	for _, f := range r.replicas {
		f.retry()
	}
	if f := r.feed(); f != nil {
		f.connect()
	}
}

// feedOf is the connection to a replica; nil if no replica has that name.
func (r *replication) feedOf(name string) *feed {
	for _, f := range r.replicas {
		if f.replica.host.Node().Name == name {
			return f
		}
	}
	return nil
}

// Promote makes a replica a master, which takes over the address of its old one:
// new connections go to it, those that are open stay where they are. The other
// replicas follow it from now on, as a sentinel would tell them to, and have what
// it has.
func (n *node) Promote() {
	master := n.repl.master
	if master == nil {
		return
	}
	n.repl.master = nil
	master.repl.replacedBy = n
	feeds := master.repl.replicas
	master.repl.replicas = nil
	for _, f := range feeds {
		if f.conn != nil {
			f.conn.Close()
		}
		f.open = false
		if f.replica != n {
			f.replica.follow(n)
		}
	}
	n.host.TakeOver(master.host.Node().Name)
}

// Demote is as in [sim.Demotable]: it asks the new master for everything, and until that has
// come it only refuses to be written to.
func (n *node) Demote() bool {
	by := n.repl.replacedBy
	if by == nil {
		return false
	}
	n.repl.replacedBy = nil
	clear(n.repl.heard)
	n.follow(by)
	return true
}
