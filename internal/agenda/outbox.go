package agenda

import "github.com/locksim/locksim/sim"

// An Outbox delays the messages of a server. While the server handles one request, it only
// puts messages into the outbox. Then the faults strike whose points the server has
// reached. If such a fault crashes the server, the messages are never sent, as on a real
// machine. Only the world's loop may call the methods.
type Outbox struct {
	host       *sim.Host
	crashCount int // so that Do notices a crash
	unsent     []func()
	// depth is how many calls of Do are active. flushing reports that messages are being
	// sent, or that faults are striking before that.
	depth    int
	flushing bool
}

// NewOutbox returns an empty outbox.
func NewOutbox(h *sim.Host) *Outbox { return &Outbox{host: h} }

// Send puts a message into the outbox. The outbox calls send, which sends it, after the
// function of [Outbox.Do] has returned.
func (o *Outbox) Send(send func()) { o.unsent = append(o.unsent, send) }

// Do calls f, lets faults strike and clients start at the points that f has reached, and
// then sends what f has put into the outbox. If the server is paused then, it sends when it
// resumes; if it has crashed, it sends nothing. A Do within f sends nothing itself: the
// outer Do does.
func (o *Outbox) Do(f func()) {
	o.depth++
	f()
	o.depth--
	if o.depth > 0 || o.flushing || len(o.unsent) == 0 {
		return
	}
	o.flushing = true
	crashesBefore := o.crashCount
	isUp := o.host.Act()
	o.flushing = false
	if isUp && crashesBefore == o.crashCount {
		o.host.WhenRunning(o.flush)
	}
}

// flush sends everything that is in the outbox, including what these sends put into it.
func (o *Outbox) flush() {
	if o.flushing {
		return
	}
	o.flushing = true
	for len(o.unsent) > 0 {
		send := o.unsent[0]
		o.unsent = o.unsent[1:]
		send()
	}
	o.flushing = false
}

// Crash drops what has not been sent. A server calls it when it crashes.
func (o *Outbox) Crash() {
	o.crashCount++
	o.unsent = nil
}
