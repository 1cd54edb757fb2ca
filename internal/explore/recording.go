package explore

import (
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
		Base: base, Name: l.bases[base].Name, Lock: cfg.Lock.Kind.Name, TTL: cfg.Lock.TTL, Takeover: l.bases[base].Takeover, System: cfg.Lock.Kind.System,
		OwnClock: cfg.Lock.Kind.OwnClock || cfg.Lock.Kind.ReadsClock || cfg.Tokens.Source.OwnClock,
		Outcome:  Outcome{Off: off.Run, On: on.Run}, Roles: map[string]trace.Role{},
	}
	for _, c := range cfg.Clients {
		r.Clients = append(r.Clients, c.Name)
	}
	if off.history == nil {
		return r, nil
	}
	for _, p := range off.history.Trace.Processes {
		r.Roles[p.Name] = p.Role
	}
	for _, n := range cfg.Nodes {
		if n.ReplicaOf != "" {
			r.Replicas = append(r.Replicas, n.Name)
		}
		if slices.Contains(off.history.LockNodes(), n.Name) {
			r.Nodes = append(r.Nodes, n.Name)
		}
	}
	for _, o := range off.history.Survey() {
		if o.Begins == nil && r.Roles[o.Message.Client] == trace.RoleNode {
			continue // what nodes tell each other is no part of a story that people tell
		}
		p := Point{Process: o.Event.Process, Stage: o.Stage, At: o.Event.At}
		if o.Begins != nil {
			p.Strikes.Before = o.Begins.Point()
			p.Strikes.Before.Nth = numbered(p.Strikes.Before.Nth)
		} else {
			p.Strikes.When = o.When()
		}
		r.Points = append(r.Points, p)
		if o.Begins == nil && !o.Arrived {
			m := o.Message
			m.Nth = numbered(m.Nth)
			r.Messages = append(r.Messages, Message{NthMessage: m, Stage: o.ClientStage, At: o.Event.At})
		}
	}
	return r, nil
}

// numbered is the number of one of several that are alike: the first needs none.
func numbered(nth int) int {
	if nth == 1 {
		return 0
	}
	return nth
}
