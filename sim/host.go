package sim

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A Host is the machine of one node. It gives a [Server] access to the world. All of it
// belongs to the loop.
type Host struct {
	w      *World
	p      *process
	cfg    Node
	system System
	server Server
	// failFaults are the faults that make the node answer requests with an error.
	failFaults []*faultState
	// diskStallFaults are the faults that keep writes from the node's disk. diskPause is
	// the pause of the node until they end; nil if the node does not stand still.
	diskStallFaults []*faultState
	diskPause       *faultState
}

func newHost(w *World, p *process, cfg Node) *Host {
	h := &Host{w: w, p: p, cfg: cfg}
	h.system, _ = w.cfg.system(cfg) // check has refused one that does not exist
	h.server = h.system.Boot(h)
	return h
}

// Node returns the node's configuration. If it has no persistence, that is the first of the
// system's disks.
func (h *Host) Node() Node {
	n := h.cfg
	if n.Persistence == "" && len(h.system.Disks) > 0 {
		n.Persistence = h.system.Disks[0].Persistence
	}
	return n
}

// Peer returns the server of another node of the same system; nil before it was made. It is
// for what nodes agree on outside the story. Messages between nodes in the story use a
// connection (see [Host.Connect]).
func (h *Host) Peer(name string) Server {
	if o := h.w.byName[name].host(); o != nil && o.system.Name == h.system.Name {
		return o.server
	}
	return nil
}

// Members returns the names of all nodes of the cluster, including this one, in the order
// of the world.
func (h *Host) Members() []string { return h.w.cfg.members(h.system) }

// Keys returns the keys under which the locks of the world are kept, in the order of the
// world.
func (h *Host) Keys() []string {
	var keys []string
	for _, l := range h.w.trace.Locks {
		for _, s := range l.Slots {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Random returns a source of random numbers of this node. Each call returns a new source
// with the same numbers.
func (h *Host) Random() *rand.Rand {
	s := seedOf(h.w.cfg.Seed, "node "+h.p.name)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:])))
}

// Clock returns the node's clocks.
func (h *Host) Clock() fakeclock.Clock { return h.p.clock }

// Now returns true time since the start of the story, by which events are dated. No real
// server knows it.
func (h *Host) Now() time.Duration { return h.w.now() }

// When returns the true time at which the node's wall clock will read t if its rate stays
// as it is. ok is false if that will never be.
func (h *Host) When(t time.Time) (at time.Duration, ok bool) { return h.p.clock.NextWall(t) }

// At makes the loop call f at a true time, whatever the state of the node is then.
func (h *Host) At(at time.Duration, f func()) { h.w.schedule(at, f) }

// IsUp reports whether the node has not crashed; it may be paused.
func (h *Host) IsUp() bool { return h.p.state != down }

// WhenRunning makes the loop call f when the node runs: now, or when it is resumed. A crash
// of the node drops f.
func (h *Host) WhenRunning(f func()) {
	if h.p.isHalted() {
		h.p.backlog = append(h.p.backlog, f)
		return
	}
	if h.IsUp() {
		f()
	}
}

// Seed returns the world's seed.
func (h *Host) Seed() uint64 { return h.w.cfg.Seed }

// Names returns the world's names for random words.
func (h *Host) Names() *Names { return h.w.names }

// Emit records an event of the node. After the end of the run it does nothing.
func (h *Host) Emit(ev trace.Event) { h.record(h.p.name, ev) }

func (h *Host) record(process string, ev trace.Event) {
	if !h.w.ended {
		ev.Process = process
		h.w.emit(ev)
	}
}

// RecordEvent records an event of the cluster: something that is true of it, whichever of
// its members are working.
func (h *Host) RecordEvent(ev trace.Event) { h.record(h.system.Name, ev) }

// Doubt records a reason why the run proves nothing: something that a real server would
// have done, and this one cannot do.
func (h *Host) Doubt(why string) { h.w.doubt(why) }

// Act lets faults and clients act if the node has reached their points, and reports whether
// the node is still up. A server calls it after it has changed something, before it
// answers.
func (h *Host) Act() bool {
	h.w.act()
	return h.IsUp()
}

// ChargeText accounts for bytes of text that the node keeps until the end; see
// [ErrTooLarge].
func (h *Host) ChargeText(bytes int) { h.w.charge(textCopies * bytes) }

// Reserve accounts for bytes of text that the node keeps for a while, such as an answer
// that is not written yet. It reports whether the world has room for them; see
// [ErrTooLarge]. If not, the node must not keep them, and the world ends. Unreserve gives
// the bytes back. Both may be called from any goroutine.
func (h *Host) Reserve(bytes int) bool { return h.w.reserve(bytes) }

// Unreserve gives back bytes that [Host.Reserve] has taken.
func (h *Host) Unreserve(bytes int) { h.w.unreserve(bytes) }

// Room returns how long a text the world has room for, in bytes; see [ErrTooLarge].
func (h *Host) Room() int { return max(h.w.room()/textCopies, 0) }

// Overflow ends the world because the node would have to keep something for which the world
// has no room.
func (h *Host) Overflow() { h.w.reserveFailed.Store(true) }

// StopWorld ends the world because more happens in it than it has room for; see
// [ErrTooMuch].
func (h *Host) StopWorld(what string) { h.w.stopWith(ErrTooMuch, "%s", what) }

// IsHeavy reports whether the world must end because the process uses too much memory; see
// [ErrHeavy]. A server calls it during long computations.
func (h *Host) IsHeavy() bool { return h.w.watchdog.isHeavy.Load() }

// Failure returns the error with which the node answers every request, except requests that
// set a connection up; "" if it serves them. If several faults act, the first counts.
func (h *Host) Failure() string {
	if len(h.failFaults) == 0 {
		return ""
	}
	return cmp.Or(h.failFaults[0].fault.Action.(*Fail).With, h.system.Failure)
}

// setFailFaults replaces the faults that make the node fail.
func (h *Host) setFailFaults(faults []*faultState) {
	was := h.Failure()
	h.failFaults = faults
	switch is := h.Failure(); {
	case is == was:
	case is == "":
		h.Emit(trace.Event{Kind: trace.KindRecover})
	default:
		h.Emit(trace.Event{Kind: trace.KindFail, Text: is})
	}
}

// IsDiskStalled reports whether the node's disk stalls: for now it takes no more writes.
func (h *Host) IsDiskStalled() bool { return len(h.diskStallFaults) > 0 }

// AwaitDisk makes the node stand still until its disk works again, as in a system call that
// does not return before. It is called while [Host.IsDiskStalled], and not during a pause.
func (h *Host) AwaitDisk() {
	if h.diskPause == nil {
		h.diskPause = &faultState{}
		h.p.pause(trace.Stop, h.diskPause)
	}
}

// setDiskStallFaults replaces the faults that make the node's disk stall.
func (h *Host) setDiskStallFaults(faults []*faultState) {
	h.diskStallFaults = faults
	if h.IsDiskStalled() {
		return
	}
	if h.diskPause != nil {
		h.p.resume(h.diskPause)
		h.diskPause = nil
	}
	h.At(h.Now(), func() {
		h.WhenRunning(func() {
			if !h.IsDiskStalled() {
				h.server.(Durable).DiskBack()
			}
		})
	})
}

// TakeOver gives the node the address of another node. Existing connections of that node
// stay with it; new ones go to this node.
func (h *Host) TakeOver(from string) {
	h.w.io.Lock() // clients that dial read byAddr
	h.w.byAddr[h.w.byName[from].addr] = h.p
	h.w.io.Unlock()
	h.Emit(trace.Event{Kind: trace.KindPromote, Peer: from})
}

// Connect opens a connection to another node. opened is called when it is made, or with the
// error.
func (h *Host) Connect(to string, endpoint Endpoint, opened func(*End, error)) {
	h.w.connect(h.p, h.w.byName[to], nodeEnd{endpoint}, func(c *conn, err error) {
		opened(&End{c: c, dialled: true}, err)
	})
}

// To the network, a node is a server like the storage and the services.
func (h *Host) accept(c *conn) endpoint { return nodeEnd{h.server.Accept(&End{c: c})} }
func (h *Host) crash(how trace.Crash)   { h.diskPause = nil; h.server.Crash(how) }
func (h *Host) restart()                { h.server.Restart() }

func (h *Host) stop() {
	for _, c := range h.w.conns {
		if c.serverProcess == h.p && c.server != nil {
			c.server.hangUp(true)
		}
	}
	h.server.Stop()
}

// isMember reports whether the node is a member of a cluster. It is false for a nil Host.
func (h *Host) isMember() bool { return h != nil && h.system.Cluster }

// host returns the machine of a node; nil for any other process.
func (p *process) host() *Host {
	if p == nil {
		return nil
	}
	h, _ := p.server.(*Host)
	return h
}
