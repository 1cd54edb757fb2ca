package history

import (
	"cmp"

	"github.com/locksim/locksim/trace"
)

// An Occasion is a moment of a run that a [trace.Point] or a [trace.StepPoint] can name by
// what clients do: a client begins a step, or a message is sent or arrives. Messages that
// only set up a connection do not count. The occasions of a run without faults are the
// points at which a fault could strike.
type Occasion struct {
	Event *trace.Event
	// StepCall is the step that a client begins; nil for a message.
	StepCall *Call
	// Message is the message that is sent, or that arrives if Arrived is set; zero for a step. Nth
	// is the number by which a point names the message: it begins with 1, and sent and arrived
	// messages are counted separately. Messages of a call of a lock are counted separately for each
	// step, and so are messages between a client and the storage itself. For these messages,
	// Message.Step is set. All other messages are counted together, by client and peer.
	Message trace.NthMessage
	Arrived bool
	// Stage is the step that the event's process is in, and ClientStage the step that the message's
	// client is in. A process that is no client counts as being in the step of the client that
	// holds the lock. If no client holds it, the process counts as being in the step of the first
	// client that is in one. If there is no such step, the stage is [Between].
	Stage, ClientStage trace.Step
	// Call is the last call of a lock that the client had begun, even if it had returned
	// (see [Occasion.IsInCall]); nil before the first call.
	Call *Call
	// Request is nil unless the occasion is a reply that is sent. Then it is the request that the
	// reply answers: the first on the connection that had no reply yet.
	Request *Occasion
}

// Between is the stage of a process that is in no step.
const Between trace.Step = "between steps"

// IsInCall reports whether the client was still in its call of the lock. Otherwise the lock sent
// the message outside of any call, or the message does not belong to the lock.
func (o *Occasion) IsInCall() bool {
	return o.Call != nil && (o.Call.Ended == nil || o.Event.Seq <= o.Call.Ended.Seq)
}

// Point returns the point that is reached when the message is sent, or arrives; the zero
// point for a step. The first message of its kind gets a point without a number.
func (o *Occasion) Point() trace.Point {
	nth := o.Message.Nth
	if nth == 1 {
		nth = 0
	}
	switch {
	case o.StepCall != nil:
		return trace.Point{}
	case o.Arrived:
		return o.Message.Arrived(nth)
	}
	return o.Message.InFlight(nth)
}

// Occasions lists the occasions of a run, in order.
func (h *History) Occasions() []*Occasion {
	return h.occasions.get(func() []*Occasion {
		s := &surveyor{
			History: h, currentStep: map[string]trace.Step{}, holders: map[string]bool{}, lastCall: map[string]*Call{},
			sent: map[trace.Message]int{}, arrived: map[trace.Message]int{}, unanswered: map[wire][]*Occasion{},
		}
		for i := range h.Trace.Events {
			s.see(&h.Trace.Events[i])
		}
		return s.found
	})
}

// A wire is a connection.
type wire struct {
	client, server string
	conn           int
}

// A surveyor collects the occasions of a run.
type surveyor struct {
	*History
	found []*Occasion
	// currentStep is the step that each client is in, holders are the clients that hold the
	// lock, and lastCall is each client's last call of a lock.
	currentStep map[string]trace.Step
	holders     map[string]bool
	lastCall    map[string]*Call
	// sent and arrived count the messages of each selection, such as all requests of one
	// client to one node in one step. unanswered are the requests on each connection that
	// have no reply yet.
	sent, arrived map[trace.Message]int
	unanswered    map[wire][]*Occasion
}

// see processes the next event of the run.
func (s *surveyor) see(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindBegin:
		s.currentStep[ev.Process] = ev.Step
		c := s.callChapter().bySeq[ev.Seq]
		if ev.Step.AtLock() {
			s.lastCall[ev.Process] = c
		}
		s.add(&Occasion{Event: ev, StepCall: c}, ev.Process)
		if ev.Step == trace.Release {
			delete(s.holders, ev.Process)
		}
	case trace.KindEnd:
		if ev.Step == trace.Acquire && ev.OK {
			s.holders[ev.Process] = true
		}
		delete(s.currentStep, ev.Process)
	case trace.KindSend, trace.KindDeliver:
		if !ev.Handshake {
			s.addMessage(ev)
		}
	}
}

// add adds an occasion of a client.
func (s *surveyor) add(o *Occasion, client string) {
	o.Stage, o.ClientStage, o.Call = s.stage(o.Event.Process), s.stage(client), s.lastCall[client]
	s.found = append(s.found, o)
}

// stage returns the step that a process is in.
func (s *surveyor) stage(process string) trace.Step {
	if s.IsClient(process) {
		return cmp.Or(s.currentStep[process], Between)
	}
	for _, p := range s.Trace.Processes {
		if s.holders[p.Name] {
			return cmp.Or(s.currentStep[p.Name], Between)
		}
	}
	for _, p := range s.Trace.Processes {
		if step := s.currentStep[p.Name]; step != "" {
			return step
		}
	}
	return Between
}

// addMessage adds the occasion of a message that is sent or arrives.
func (s *surveyor) addMessage(ev *trace.Event) {
	m := trace.Message{Client: ev.Process, Peer: ev.Peer, Step: ev.Step, Reply: ev.Reply}
	o := &Occasion{Event: ev, Arrived: ev.Kind == trace.KindDeliver}
	if ev.Reply != o.Arrived {
		m.Client, m.Peer = ev.Peer, ev.Process
	}
	counted := s.sent
	if o.Arrived {
		counted = s.arrived
	}
	allSteps := m // the selection of the same messages in all steps
	allSteps.Step = ""
	counted[allSteps]++
	if m.Step != "" {
		counted[m]++
	}
	if !m.Step.AtLock() && !(m.Step.AtStorage() && m.Peer == trace.StorageName) {
		m = allSteps
	}
	o.Message = trace.NthMessage{Message: m, Nth: counted[m]}
	if w := (wire{m.Client, m.Peer, ev.Conn}); !o.Arrived && !ev.Reply {
		s.unanswered[w] = append(s.unanswered[w], o)
	} else if asked := s.unanswered[w]; !o.Arrived && len(asked) > 0 {
		o.Request, s.unanswered[w] = asked[0], asked[1:]
	}
	s.add(o, m.Client)
}
