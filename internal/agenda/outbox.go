package agenda

import "github.com/locksim/locksim/sim"

// An Outbox delays the messages of a server. While the server handles a request, it only puts
// messages into the outbox. A fault may wait for an event that the server records. Such faults
// strike first; then the messages are sent. If such a fault crashes the server, the messages are
// never sent, as on a real machine. Only the goroutine of the world's event loop may call the
// methods.
type Outbox struct {
	host       *sim.Host
	crashCount int // counts the crashes, so that Do notices one
	unsent     []func()
	// depth is how many calls of Do are running their functions. isBusy reports that messages
	// are being sent, or that faults are striking. As long as it is set, another call of Do
	// leaves its messages in the outbox.
	depth  int
	isBusy bool
}

// NewOutbox returns an empty outbox.
func NewOutbox(h *sim.Host) *Outbox { return &Outbox{host: h} }

// Send puts a message into the outbox. transmit sends the message; the outbox calls it
// after the function that was given to [Outbox.Do] has returned.
func (o *Outbox) Send(transmit func()) { o.unsent = append(o.unsent, transmit) }

// Do calls f. Some faults and clients wait for an event. If f has recorded such an event, and the
// outbox has messages, Do first lets these faults strike and these clients start. Then it sends the
// messages. If a fault has paused the server, they are sent when the server resumes; if a fault has
// crashed it, they are dropped.
//
// A call of Do within f sends nothing; the outer call sends the messages. A call while messages are
// being sent also leaves its messages to the call that is sending.
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

// flush sends all messages in the outbox, including those that are put into it meanwhile.
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
