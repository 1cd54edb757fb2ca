package explore

import (
	"context"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Records makes the [Record] of each base. It runs the worlds with the Backend.
type Records struct {
	Bases []Base
	runs.Backend
}

// Record runs a base without faults and records where faults can strike.
func (all Records) Record(ctx context.Context, base int) (*Record, error) {
	b, worlds := all.Bases[base], all.Backend
	w := runs.WorldSpec{Base: base}
	o, err := worlds.Run(ctx, w)
	if err != nil {
		return nil, err
	}
	if o.HasMisconduct() {
		return newRecordWithoutRun(worlds, base, b.Name, o)
	}
	off, err := worlds.Report(ctx, w, runs.FencingOff)
	if err != nil {
		return nil, err
	}
	if off.History == nil { // the lock behaves differently in each run
		return newRecordWithoutRun(worlds, base, b.Name, runs.WorldResult{Off: off.RunResult, On: off.RunResult})
	}
	cfg, err := worlds.Config(w, runs.FencingOff)
	if err != nil {
		return nil, err
	}
	r := NewRecord(cfg, off.History)
	r.Base, r.Name, r.Takeover, r.Outcome = base, b.Name, b.Takeover, o
	return r, nil
}

// newRecordWithoutRun returns the record of a base whose run has no trace: the lock has ended it,
// for example by a panic, or behaves differently in each run. The record has no points.
func newRecordWithoutRun(worlds runs.Backend, base int, name string, o runs.WorldResult) (*Record, error) {
	cfg, err := worlds.Config(runs.WorldSpec{Base: base}, runs.FencingOff)
	if err != nil {
		return nil, err
	}
	return &Record{Base: base, Name: name, Lock: cfg.Lock.Kind.Name, TTL: cfg.Lock.TTL, System: cfg.Lock.Kind.System, Outcome: o}, nil
}

// NewRecord returns the record of a run without fencing tokens: the processes of its world,
// and where faults can strike. It has no outcome.
func NewRecord(cfg sim.Config, off *history.History) *Record {
	r := &Record{
		Lock: cfg.Lock.Kind.Name, TTL: cfg.Lock.TTL, System: cfg.Lock.Kind.System,
		OwnClock: cfg.Lock.Kind.OwnClock || cfg.Lock.Kind.ReadsClock || cfg.Tokens.Source.OwnClock,
		Roles:    map[string]trace.Role{},
	}
	for _, c := range cfg.Clients {
		r.Clients = append(r.Clients, c.Name)
	}
	for _, p := range off.Trace.Processes {
		r.Roles[p.Name] = p.Role
	}
	for _, n := range cfg.Nodes {
		if n.ReplicaOf != "" {
			r.Replicas = append(r.Replicas, n.Name)
		}
		if slices.Contains(off.LockNodes(), n.Name) {
			r.Nodes = append(r.Nodes, n.Name)
		}
	}
	for _, o := range off.Occasions() {
		if o.StepCall == nil && r.Roles[o.Message.Client] == trace.RoleNode {
			continue // the story of a run does not mention messages between nodes
		}
		p := InjectionPoint{Process: o.Event.Process, Stage: o.Stage, At: o.Event.At}
		if o.StepCall != nil {
			p.Strikes.Before = o.StepCall.Point()
			p.Strikes.Before.Nth = optionalNth(p.Strikes.Before.Nth)
		} else {
			p.Strikes.When = o.Point()
		}
		r.Points = append(r.Points, p)
		if o.StepCall == nil && !o.Arrived {
			m := o.Message
			m.Nth = optionalNth(m.Nth)
			r.Messages = append(r.Messages, Message{NthMessage: m, Stage: o.ClientStage, At: o.Event.At})
		}
	}
	r.alike = findAlike(cfg, off.Trace.Locks, r.Nodes)
	if len(off.Trace.Locks) > 0 {
		r.quorumSides = r.findQuorumSides(off.Trace.Locks[0].Quorum)
	}
	return r
}

// optionalNth returns the number of one of several similar points, as a scenario writes it:
// the first of them needs no number, so 1 becomes 0.
func optionalNth(nth int) int {
	if nth == 1 {
		return 0
	}
	return nth
}
