package sim

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A Host is the machine of one node: what a [Server] has of the world. All of it belongs
// to the loop.
type Host struct {
	w      *World
	p      *process
	cfg    Node
	system System
	server Server
	// failing are the faults because of which it answers requests with an error.
	failing []*faultState
	// stalling are those because of which nothing gets to its disk. waits is what pauses the
	// node until they are over; nil if it does not stand still.
	stalling []*faultState
	waits    *faultState
}

func newHost(w *World, p *process, cfg Node) *Host {
	h := &Host{w: w, p: p, cfg: cfg}
	h.system, _ = w.cfg.system(cfg) // check has refused one that does not exist
	h.server = h.system.Boot(h)
	return h
}

// Node is the node's configuration, with the system's own persistence where none is
// given.
func (h *Host) Node() Node {
	n := h.cfg
	if n.Persistence == "" && len(h.system.Disks) > 0 {
		n.Persistence = h.system.Disks[0].Persistence
	}
	return n
}

// Peer is the server of another node of the same system; nil before it was made. It is
// for what nodes agree on outside of the story: what one tells another in it goes over a
// connection (see [Host.Connect]).
func (h *Host) Peer(name string) Server {
	if o := h.w.byName[name].host(); o != nil && o.system.Name == h.system.Name {
		return o.server
	}
	return nil
}

// Members are the names of all nodes of the cluster, this one included, in the order of
// the world.
func (h *Host) Members() []string { return h.w.cfg.members(h.system) }

// Keys are the keys that the locks of the world are kept under, in the order of the world.
func (h *Host) Keys() []string {
	var keys []string
	for _, l := range h.w.trace.Locks {
		for _, s := range l.Slots {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Random is a source of random numbers that no other node has: always a new one, with the
// same numbers.
func (h *Host) Random() *rand.Rand {
	s := seedOf(h.w.cfg.Seed, "node "+h.p.name)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:])))
}

// Clock is the node's clocks.
func (h *Host) Clock() fakeclock.Clock { return h.p.clock }

// Now is true time since the start of the story, which no real server knows: events are
// dated by it.
func (h *Host) Now() time.Duration { return h.w.now() }

// When is the true time at which the node's wall clock will read t, if it goes on as it
// does now; false if that will never be.
func (h *Host) When(t time.Time) (at time.Duration, ok bool) { return h.p.clock.NextWall(t) }

// At has f called at a true time, whatever has become of the node by then.
func (h *Host) At(at time.Duration, f func()) { h.w.at(at, f) }

// Up says whether the node has not crashed; it may be paused.
func (h *Host) Up() bool { return h.p.state != down }

// Running has f called when the node runs: now, or when it is resumed. A crash forgets
// it.
func (h *Host) Running(f func()) {
	if h.p.halted() {
		h.p.backlog = append(h.p.backlog, f)
		return
	}
	if h.Up() {
		f()
	}
}

// Seed is the world's.
func (h *Host) Seed() uint64 { return h.w.cfg.Seed }

// Names are what the world calls words.
func (h *Host) Names() *Names { return h.w.names }

// Emit records an event of the node's. After the end of the run nothing is recorded.
func (h *Host) Emit(ev trace.Event) { h.record(h.p.name, ev) }

func (h *Host) record(process string, ev trace.Event) {
	if !h.w.over {
		ev.Process = process
		h.w.emit(ev)
	}
}

// Tell records an event of the cluster's: what is true of it whichever of its members are
// well.
func (h *Host) Tell(ev trace.Event) { h.record(h.system.Name, ev) }

// Doubt says why the run proves nothing: what a real server would have done, and this one
// cannot.
func (h *Host) Doubt(why string) { h.w.doubt(why) }

// Act lets the faults and clients act whose points the node has reached, and reports
// whether it is still up. A server calls it between what it does and its answer.
func (h *Host) Act() bool {
	h.w.act()
	return h.Up()
}

// Keeps accounts for bytes of text that the node keeps; see [ErrTooLarge].
func (h *Host) Keeps(bytes int) { h.w.makes(copies * bytes) }

// Hold accounts for bytes of text that the node is about to keep for a while, such as an
// answer that is not written yet, and reports whether the world has room for them; see
// [ErrTooLarge]. If it has none, the node must not keep them, and the world ends. Drop gives
// back what Hold has taken. Both may be called from any goroutine.
func (h *Host) Hold(bytes int) bool { return h.w.hold(bytes) }

// Drop is as said at [Host.Hold].
func (h *Host) Drop(bytes int) { h.w.drop(bytes) }

// Room is how long a text may be for which the world has room; see [ErrTooLarge].
func (h *Host) Room() int { return max(h.w.room()/copies, 0) }

// Overflow ends the world because the node was to keep what the world has no room for.
func (h *Host) Overflow() { h.w.refused.Store(true) }

// Exceeds ends the world because more happens in it than it has room for; see [ErrTooMuch].
func (h *Host) Exceeds(what string) { h.w.exceeds(ErrTooMuch, "%s", what) }

// Heavy reports whether the world is to end because the process takes too much memory; see
// [ErrHeavy]. A server asks while it computes for long.
func (h *Host) Heavy() bool { return h.w.alive.heavy.Load() }

// Failure is the error with which the node has to answer every request but those that
// set a connection up; "" if it serves them. Of several faults the first counts.
func (h *Host) Failure() string {
	if len(h.failing) == 0 {
		return ""
	}
	return cmp.Or(h.failing[0].fault.Action.(*Fail).With, h.system.Failure)
}

// fail has some faults decide from now on whether the node fails.
func (h *Host) fail(faults []*faultState) {
	was := h.Failure()
	h.failing = faults
	switch is := h.Failure(); {
	case is == was:
	case is == "":
		h.Emit(trace.Event{Kind: trace.KindRecover})
	default:
		h.Emit(trace.Event{Kind: trace.KindFail, Text: is})
	}
}

// DiskStalls says that nothing gets to the node's disk for now that is not on it yet.
func (h *Host) DiskStalls() bool { return len(h.stalling) > 0 }

// AwaitDisk has the node stand still until its disk goes on, as in a system call that does
// not return before that. It is called while [Host.DiskStalls], and not in a pause.
func (h *Host) AwaitDisk() {
	if h.waits == nil {
		h.waits = &faultState{}
		h.p.pause(trace.Stop, h.waits)
	}
}

// stallDisk has some faults decide from now on whether the node's disk stalls.
func (h *Host) stallDisk(faults []*faultState) {
	h.stalling = faults
	if h.DiskStalls() {
		return
	}
	if h.waits != nil {
		h.p.resume(h.waits)
		h.waits = nil
	}
	h.At(h.Now(), func() {
		h.Running(func() {
			if !h.DiskStalls() {
				h.server.(Durable).DiskBack()
			}
		})
	})
}

// TakeOver gives the node the address of another, which keeps its own connections. New
// ones go to this node.
func (h *Host) TakeOver(from string) {
	h.w.io.Lock() // clients that dial look there
	h.w.byAddr[h.w.byName[from].addr] = h.p
	h.w.io.Unlock()
	h.Emit(trace.Event{Kind: trace.KindPromote, Peer: from})
}

// Connect opens a connection to another node. opened is called when it is made, or with
// the error.
func (h *Host) Connect(to string, endpoint Endpoint, opened func(*End, error)) {
	h.w.connect(h.p, h.w.byName[to], nodeEnd{endpoint}, func(c *conn, err error) {
		opened(&End{c: c, dialled: true}, err)
	})
}

// The process of a node is a server like those of the storage and of services.
func (h *Host) accept(c *conn) endpoint { return nodeEnd{h.server.Accept(&End{c: c})} }
func (h *Host) crash(how trace.Crash)   { h.waits = nil; h.server.Crash(how) }
func (h *Host) restart()                { h.server.Restart() }

func (h *Host) stop() {
	for _, c := range h.w.conns {
		if c.serverProcess == h.p && c.server != nil {
			c.server.hangUp(true)
		}
	}
	h.server.Stop()
}

// isMember says that a node is a member of a cluster; false for no node.
func (h *Host) isMember() bool { return h != nil && h.system.Cluster }

// host is the machine of a node; nil for any other process.
func (p *process) host() *Host {
	if p == nil {
		return nil
	}
	h, _ := p.server.(*Host)
	return h
}
