package explore

import (
	"context"
	"slices"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/trace"
)

// Records makes the records of bases, whose worlds it runs by the Backend.
type Records struct {
	Bases []Base
	runs.Worlds
}

// Record runs a base without faults and records where faults can strike.
func (all Records) Record(ctx context.Context, base int) (*Record, error) {
	b, worlds := all.Bases[base], all.Worlds
	w := runs.World{Base: base}
	o, err := worlds.Run(ctx, w)
	if err != nil || o.Misconduct() {
		return &Record{Base: base, Name: b.Name, Outcome: o}, err
	}
	off, err := worlds.Account(ctx, w, runs.Without)
	if err != nil {
		return nil, err
	}
	if off.History == nil { // the lock does not behave the same each time
		return &Record{Base: base, Name: b.Name, Outcome: runs.Outcome{Off: off.Run, On: off.Run}}, nil
	}
	cfg, err := worlds.Config(w, runs.Without)
	if err != nil {
		return nil, err
	}
	r := &Record{
		Base: base, Name: b.Name, Lock: cfg.Lock.Kind.Name, TTL: cfg.Lock.TTL, Takeover: b.Takeover, System: cfg.Lock.Kind.System,
		OwnClock: cfg.Lock.Kind.OwnClock || cfg.Lock.Kind.ReadsClock || cfg.Tokens.Source.OwnClock,
		Outcome:  o, Roles: map[string]trace.Role{},
	}
	for _, c := range cfg.Clients {
		r.Clients = append(r.Clients, c.Name)
	}
	for _, p := range off.History.Trace.Processes {
		r.Roles[p.Name] = p.Role
	}
	for _, n := range cfg.Nodes {
		if n.ReplicaOf != "" {
			r.Replicas = append(r.Replicas, n.Name)
		}
		if slices.Contains(off.History.LockNodes(), n.Name) {
			r.Nodes = append(r.Nodes, n.Name)
		}
	}
	for _, o := range off.History.Survey() {
		if o.Begins == nil && r.Roles[o.Message.Client] == trace.RoleNode {
			continue // stories do not mention the messages between nodes
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

// ordinal returns the number of one of several alike points: the first needs none.
func numbered(nth int) int {
	if nth == 1 {
		return 0
	}
	return nth
}
