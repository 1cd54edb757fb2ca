package explore

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// Record runs a base without any fault and takes down where faults can strike.
func (l *Local) Record(base int) (*Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := World{Base: base}
	cfg, err := l.config(w, Without)
	if err != nil {
		return nil, err
	}
	off, err := l.run(w, Without)
	if err != nil {
		return nil, err
	}
	on, err := l.run(w, With)
	if err != nil {
		return nil, err
	}
	r := &Record{
		Base: base, Name: l.bases[base].Name, Lock: cfg.Lock.Kind.Name, TTL: cfg.Lock.TTL,
		OwnClock: cfg.Lock.Kind.OwnClock || cfg.Tokens.Source.OwnClock,
		Outcome:  Outcome{Off: off.Run, On: on.Run}, Roles: map[string]trace.Role{},
	}
	for _, c := range cfg.Clients {
		r.Clients = append(r.Clients, c.Name)
	}
	if off.trace == nil {
		return r, nil
	}
	for _, p := range off.trace.Processes {
		r.Roles[p.Name] = p.Role
	}
	for _, n := range cfg.Nodes {
		for _, lock := range off.trace.Locks {
			if slices.ContainsFunc(lock.Slots, func(s trace.SlotInfo) bool { return s.Node == n.Name }) && !slices.Contains(r.Nodes, n.Name) {
				r.Nodes = append(r.Nodes, n.Name)
			}
		}
	}
	rec := &recorder{Record: r, steps: map[trace.StepPoint]int{}, sent: map[trace.Message]int{}, came: map[trace.Message]int{}, in: map[string]trace.Step{}, inside: map[string]bool{}}
	for i := range off.trace.Events {
		rec.see(&off.trace.Events[i])
	}
	return r, nil
}

// A recorder goes through the run of a base.
type recorder struct {
	*Record
	steps map[trace.StepPoint]int
	// sent and came count the messages of each kind that were sent and have arrived.
	sent, came map[trace.Message]int
	// in is the step in which each client is, and inside says who holds the lock.
	in     map[string]trace.Step
	inside map[string]bool
}

func (r *recorder) see(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindBegin:
		r.in[ev.Process] = ev.Step
		p := trace.StepPoint{Client: ev.Process, Step: ev.Step}
		r.steps[p]++
		p.Nth = r.steps[p]
		r.point(ev, Point{Process: ev.Process, Before: p.String()})
		if ev.Step == trace.Release {
			delete(r.inside, ev.Process)
		}
	case trace.KindEnd:
		if ev.Step == trace.Acquire && ev.OK {
			r.inside[ev.Process] = true
		}
		delete(r.in, ev.Process)
	case trace.KindSend, trace.KindDeliver:
		if !ev.Handshake {
			r.message(ev)
		}
	}
}

// point adds a point.
func (r *recorder) point(ev *trace.Event, p Point) {
	p.At, p.Stage = ev.At, r.stage(p.Process)
	r.Points = append(r.Points, p)
}

// between is the stage of a process while nobody is in any step.
const between trace.Step = "between steps"

// stage is the step in which a client is, or, for others, that of whoever holds the
// lock or else of whoever does something.
func (r *recorder) stage(process string) trace.Step {
	if slices.Contains(r.Clients, process) {
		return cmp.Or(r.in[process], between)
	}
	for _, c := range r.Clients {
		if r.inside[c] {
			return cmp.Or(r.in[c], between)
		}
	}
	for _, c := range r.Clients {
		if r.in[c] != "" {
			return r.in[c]
		}
	}
	return between
}

// message adds the points of a message that is sent or arrives, and, when it is sent,
// the message.
func (r *recorder) message(ev *trace.Event) {
	m := trace.Message{Client: ev.Process, Peer: ev.Peer, Step: ev.Step, Reply: ev.Reply}
	arrived := ev.Kind == trace.KindDeliver
	if ev.Reply != arrived {
		m.Client, m.Peer = ev.Peer, ev.Process
	}
	counted := r.sent
	if arrived {
		counted = r.came
	}
	// A selection that names no step counts the messages of all steps. What belongs to
	// no step that can be named is counted so.
	every := m
	every.Step = ""
	counted[every]++
	if m.Step != "" {
		counted[m]++
	}
	if named := m.Step == trace.Acquire || m.Step == trace.Extend || m.Step == trace.Release || m.Step.AtStorage() && m.Peer == trace.StorageName; !named {
		m = every
	}
	nth := counted[m]
	if nth == 1 {
		nth = 0 // the first time need not be counted
	}
	point := m.InFlight(nth)
	if arrived {
		point = m.Arrived(nth)
	}
	r.point(ev, Point{Process: ev.Process, When: point.String()})
	if !arrived {
		r.Messages = append(r.Messages, Message{Message: m, Nth: max(nth, 1), Stage: r.stage(m.Client), At: ev.At})
	}
}
