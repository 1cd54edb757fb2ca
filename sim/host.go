package sim

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// A Host is the machine of one node. Its [Server] uses it to read clocks, to record events and to
// reach other nodes. Only the world's event loop may call a Host's methods, except where a comment
// says otherwise.
type Host struct {
	w      *World
	p      *process
	cfg    Node
	system System
	server Server
	// failFaults are the faults that make the node answer requests with an error.
	failFaults []*faultState
	// diskStallFaults are the faults during which the node's disk confirms no write. diskPause
	// identifies the pause in which the node waits for the end of these faults; it is nil if the
	// node does not wait.
	diskStallFaults []*faultState
	diskPause       *faultState
}

// newHost makes the machine of a node and boots its server.
func newHost(w *World, p *process, cfg Node) *Host {
	h := &Host{w: w, p: p, cfg: cfg}
	h.system, _ = w.cfg.system(cfg) // it exists: checkConfig has refused other configurations
	h.server = h.system.Boot(h)
	return h
}

// Node returns the node's configuration. An empty Persistence is replaced by the system's
// default.
func (h *Host) Node() Node {
	n := h.cfg
	if n.Persistence == "" && len(h.system.Disks) > 0 {
		n.Persistence = h.system.Disks[0].Persistence
	}
	return n
}

// Peer returns the server of another node of the same system, or nil before that server was
// made. A server uses it only outside the run: before all clients have opened their
// connections, or to report the final data. During the run, nodes must exchange messages
// over connections (see [Host.Connect]), because faults act on these.
func (h *Host) Peer(name string) Server {
	if o := h.w.byName[name].host(); o != nil && o.system.Name == h.system.Name {
		return o.server
	}
	return nil
}

// Members returns the names of all nodes of the cluster, including this one, in the order
// of the world.
func (h *Host) Members() []string { return h.w.cfg.members(h.system) }

// Keys returns the keys under which the servers keep the locks of the world, in the order
// of the locks. A key that several servers keep occurs once for each of them.
func (h *Host) Keys() []string {
	var keys []string
	for _, l := range h.w.trace.Locks {
		for _, s := range l.Slots {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Random returns this node's source of random numbers. Each call returns a new source with
// the same numbers.
func (h *Host) Random() *rand.Rand {
	s := seedOf(h.w.cfg.Seed, "node "+h.p.name)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:])))
}

// Clock returns the node's clocks.
func (h *Host) Clock() fakeclock.Clock { return h.p.clock }

// Now returns the true time since the start of the run, which is the time of events. A server must
// not base a decision on true time, because no real server knows true time.
func (h *Host) Now() time.Duration { return h.w.now() }

// When returns the true time at which the node's wall clock will read t, if no fault
// changes the clock before. ok is false while the machine is suspended.
func (h *Host) When(t time.Time) (at time.Duration, ok bool) { return h.p.clock.NextWall(t) }

// At makes the loop call f at a true time, even if the node is paused or down then.
func (h *Host) At(at time.Duration, f func()) { h.w.schedule(at, f) }

// IsUp reports whether the node is up: running or paused, but not crashed.
func (h *Host) IsUp() bool { return h.p.state != down }

// WhenRunning calls f now if the node runs. If the node is paused, the loop calls f when
// the node resumes. If the node is down, or crashes before it resumes, f is not called.
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

// Names returns the names that the world's trace shows in place of random words.
func (h *Host) Names() *Names { return h.w.names }

// Emit records an event whose Process is the node. After the end of the run it does
// nothing.
func (h *Host) Emit(ev trace.Event) { h.record(h.p.name, ev) }

// record records an event of a process, unless the run has ended.
func (h *Host) record(process string, ev trace.Event) {
	if !h.w.ended {
		ev.Process = process
		h.w.emit(ev)
	}
}

// RecordEvent records an event whose Process is the cluster, such as a grant that a
// majority of its members have stored.
func (h *Host) RecordEvent(ev trace.Event) { h.record(h.system.Name, ev) }

// Doubt records a reason why the run is inconclusive: a real server would have done
// something that this one does not simulate.
func (h *Host) Doubt(why string) { h.w.addDoubt(why) }

// Act runs the actions that are due because of the events that the node has just recorded: faults
// strike or end, and clients start. It reports whether the node is still up. A server calls it
// after it has recorded a change and before it answers, so that a fault can strike between the two.
func (h *Host) Act() bool {
	h.w.runDueActions()
	return h.IsUp()
}

// ChargeText accounts for bytes of text that the node keeps until the end of the run. If the world
// has no room for this text, the world ends with [ErrTooLarge].
func (h *Host) ChargeText(bytes int) { h.w.charge(textCopies * bytes) }

// Reserve accounts for bytes of text that the node keeps for a while, such as an answer that is not
// written yet. It reports whether the world has room for this text. If not, the node must not keep
// the text, and the world ends with [ErrTooLarge]. Any goroutine may call Reserve.
func (h *Host) Reserve(bytes int) bool { return h.w.reserve(bytes) }

// Unreserve ends the reservation of some bytes that [Host.Reserve] has made. Any goroutine may call
// Unreserve.
func (h *Host) Unreserve(bytes int) { h.w.unreserve(bytes) }

// Room returns the length in bytes of the longest text for which the world has room.
func (h *Host) Room() int { return max(h.w.room()/textCopies, 0) }

// Overflow ends the world with [ErrTooLarge], because the node would have to keep something
// for which the world has no room.
func (h *Host) Overflow() { h.w.reserveFailed.Store(true) }

// StopWorld ends the world with [ErrTooMuch]. The text excess becomes part of the error: it says
// what there is too much of in the world.
func (h *Host) StopWorld(excess string) { h.w.stopWith(ErrTooMuch, "%s", excess) }

// IsHeavy reports whether the world must end with [ErrHeavy]. A server calls it during long
// computations, and ends them if it returns true.
func (h *Host) IsHeavy() bool { return h.w.watchdog.isHeavy.Load() }

// Failure returns the error with which the node must answer every request because of a
// fault [Fail]; "" if there is none. The node still serves requests that only set a
// connection up. If several such faults last, the error is that of the first.
func (h *Host) Failure() string {
	if len(h.failFaults) == 0 {
		return ""
	}
	return cmp.Or(h.failFaults[0].fault.Action.(*Fail).With, h.system.Failure)
}

// setFailFaults replaces the faults that make the node answer with errors, and records the
// change.
func (h *Host) setFailFaults(faults []*faultState) {
	before := h.Failure()
	h.failFaults = faults
	switch after := h.Failure(); {
	case after == before:
	case after == "":
		h.Emit(trace.Event{Kind: trace.KindRecover})
	default:
		h.Emit(trace.Event{Kind: trace.KindFail, Text: after})
	}
}

// IsDiskStalled reports whether a fault [DiskStall] lasts: the disk confirms no write.
func (h *Host) IsDiskStalled() bool { return len(h.diskStallFaults) > 0 }

// AwaitDisk pauses the node until its disk works again, as a process waits in a system
// call. A server may call it only while [Host.IsDiskStalled] is true and the node is not
// paused.
func (h *Host) AwaitDisk() {
	if h.diskPause == nil {
		h.diskPause = &faultState{}
		h.p.pause(trace.Stop, h.diskPause)
	}
}

// setDiskStallFaults replaces the faults that make the node's disk stall. When there are
// none left, it ends the pause of AwaitDisk and calls DiskBack.
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

// TakeOver gives this node the address of another node. The other node keeps its existing
// connections; new connections go to this node.
func (h *Host) TakeOver(from string) {
	h.w.ioMutex.Lock() // the goroutines of clients read byAddr when they dial
	h.w.byAddr[h.w.byName[from].addr] = h.p
	h.w.ioMutex.Unlock()
	h.Emit(trace.Event{Kind: trace.KindPromote, Peer: from})
}

// Connect opens a connection to another node. opened is called when the connection is made,
// or with an error if it cannot be made.
func (h *Host) Connect(to string, endpoint Endpoint, opened func(*End, error)) {
	h.w.connect(h.p, h.w.byName[to], nodeEnd{endpoint}, func(c *conn, err error) {
		opened(&End{c: c, dialled: true}, err)
	})
}

// The next methods make a Host a server, like the storage and the services.
func (h *Host) accept(c *conn) endpoint { return nodeEnd{h.server.Accept(&End{c: c})} }
func (h *Host) crash(how trace.Crash)   { h.diskPause = nil; h.server.Crash(how) }
func (h *Host) restart()                { h.server.Restart() }

// stop ends the connections' goroutines and the server, at the end of the run.
func (h *Host) stop() {
	for _, c := range h.w.conns {
		if c.serverProcess == h.p && c.serverEnd != nil {
			c.serverEnd.hangUp(true)
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
