package agenda

import "github.com/locksim/locksim/sim"

// An Outbox is what a server has to send when the world has seen what it did: a server does all
// that it does at one moment first, and a crash may come before it sends. It belongs to the loop.
type Outbox struct {
	host     *sim.Host
	life     int // counts the crashes
	waiting  []func()
	depth    int
	flushing bool
}

// NewOutbox makes one.
func NewOutbox(h *sim.Host) *Outbox { return &Outbox{host: h} }

// Send has something sent when what the server does now is done.
func (o *Outbox) Send(send func()) { o.waiting = append(o.waiting, send) }

// Do does something, and sends what comes of it. What is done within is a part of it.
func (o *Outbox) Do(f func()) {
	o.depth++
	f()
	o.depth--
	if o.depth > 0 || o.flushing || len(o.waiting) == 0 {
		return
	}
	o.flushing = true
	life := o.life
	up := o.host.Act()
	o.flushing = false
	if up && life == o.life {
		o.host.Running(o.flush)
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

// Crash forgets what was to be sent.
func (o *Outbox) Crash() {
	o.life++
	o.waiting = nil
}
