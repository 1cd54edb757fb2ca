package agenda

import "github.com/locksim/locksim/sim"

// An Outbox holds what a server sends once faults and clients have reacted to what it did.
// A server first does everything that it does at one moment, and may crash before it sends.
// The Outbox belongs to the loop.
type Outbox struct {
	host     *sim.Host
	crashes  int // counts the crashes
	waiting  []func()
	depth    int
	flushing bool
}

// NewOutbox returns an empty outbox.
func NewOutbox(h *sim.Host) *Outbox { return &Outbox{host: h} }

// Send makes the outbox call send when the server has finished what it does now.
func (o *Outbox) Send(send func()) { o.waiting = append(o.waiting, send) }

// Do calls f, and then sends what f has put into the outbox. A nested Do is part of the
// outer one.
func (o *Outbox) Do(f func()) {
	o.depth++
	f()
	o.depth--
	if o.depth > 0 || o.flushing || len(o.waiting) == 0 {
		return
	}
	o.flushing = true
	crashes := o.crashes
	up := o.host.Act()
	o.flushing = false
	if up && crashes == o.crashes {
		o.host.WhenRunning(o.flush)
	}
}

func (o *Outbox) flush() {
	if o.flushing {
		return
	}
	o.flushing = true
	for len(o.waiting) > 0 {
		first := o.waiting[0]
		o.waiting = o.waiting[1:]
		first()
	}
	o.flushing = false
}

// Crash drops what has not been sent.
func (o *Outbox) Crash() {
	o.crashes++
	o.waiting = nil
}
