package agenda

import "github.com/locksim/locksim/sim"

// An Outbox delays the messages of a server. While the server handles one request, it only puts
// messages into the outbox. Faults that wait for an event which the server has just recorded strike
// before the messages are sent. If such a fault crashes the server, the messages are never sent, as
// on a real machine. Only the goroutine of the world's event loop may call the methods.
type Outbox struct {
	host       *sim.Host
	crashCount int // so that Do notices a crash
	unsent     []func()
	// depth is how many calls of Do are active. isBusy reports that messages are being
	// sent, or that faults are striking. In that time another Do only puts messages into
	// the outbox.
	depth  int
	isBusy bool
}

// NewOutbox returns an empty outbox.
func NewOutbox(h *sim.Host) *Outbox { return &Outbox{host: h} }

// Send puts a message into the outbox. transmit sends the message; the outbox calls it
// after the function that was given to [Outbox.Do] has returned.
func (o *Outbox) Send(transmit func()) { o.unsent = append(o.unsent, transmit) }

// Do calls f. If f has put messages into the outbox, Do then lets faults strike and clients start
// that have waited for an event which f has recorded, and after that it sends the messages. If the
// server is paused then, Do sends them when it resumes; if it has crashed, Do sends nothing.
//
// A Do within f sends nothing itself, but the outer Do does. A Do that is called while messages are
// sent also leaves the sending to the Do that has begun it.
func (o *Outbox) Do(f func()) {
	o.depth++
	f()
	o.depth--
	if o.depth > 0 || o.isBusy || len(o.unsent) == 0 {
		return
	}
	o.isBusy = true
	crashesBefore := o.crashCount
	isUp := o.host.Act() // faults strike
	o.isBusy = false
	if isUp && crashesBefore == o.crashCount {
		o.host.WhenRunning(o.flush)
	}
}

// flush sends everything that is in the outbox, including what these sends put into it.
func (o *Outbox) flush() {
	if o.isBusy {
		return
	}
	o.isBusy = true
	for len(o.unsent) > 0 {
		transmit := o.unsent[0]
		o.unsent = o.unsent[1:]
		transmit()
	}
	o.isBusy = false
}

// Crash drops what has not been sent. A server calls it when it crashes.
func (o *Outbox) Crash() {
	o.crashCount++
	o.unsent = nil
}
