package explore

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Record is what the run of a base without any fault shows.
type Record struct {
	Base int
	Name string
	// Lock is the kind of lock and TTL how long a grant lasts. Takeover is that of the [Base].
	Lock          string
	TTL, Takeover time.Duration
	// System is the kind of server that the lock is kept on.
	System string
	// OwnClock says that the lock reads its process's clock.
	OwnClock bool
	// Clients and Nodes are the processes, in the order of the base; Nodes are those
	// on which the lock is kept.
	Clients, Nodes []string
	// Replicas are the nodes that follow another.
	Replicas []string
	// Roles has every process.
	Roles map[string]trace.Role
	// Points are where a fault can strike, in the order in which they are reached.
	Points []Point
	// Messages are those that can be held or lost, in the order in which they are sent.
	Messages []Message
	// Outcome is what came of it.
	Outcome runs.Outcome
}

// system is the kind of server that the lock is kept on.
func (r *Record) system() sim.System {
	s, _ := sim.LookupSystem(r.System)
	return s
}

// A Point is a moment in the story of a base as one process sees it: it is about to
// begin a step, or has ended one, or a message is sent to it or by it.
type Point struct {
	// Process is the one to which something happens.
	Process string
	// Strikes says it as a fault does: before a step, or when a message is on its way or
	// has arrived.
	Strikes trace.Trigger
	// Stage is the step in which the process is if it is a client, and otherwise that
	// of whoever holds the lock then, or asks for it.
	Stage trace.Step
	// At is the true time at which it is reached without faults.
	At time.Duration
}

// isStep says that it is a step of a client that is about to begin.
func (p Point) isStep() bool { return !p.Strikes.Before.IsZero() }

// A Message is one message of the run.
type Message struct {
	// The first of its kind has no number.
	trace.NthMessage
	Stage trace.Step
	// At is the true time at which it is sent without faults.
	At time.Duration
}

// TookPlace says whether the base can be explored: nothing was in doubt without any
// fault.
func (r *Record) TookPlace() bool { return r.Outcome.Off.Doubt == "" && r.Outcome.On.Doubt == "" }

// stageOf is the stage that a fault strikes.
func (r *Record) stageOf(f runs.Fault) trace.Step {
	if held, ok := f.Message(); ok {
		for _, m := range r.Messages {
			if held == m.NthMessage {
				return m.Stage
			}
		}
	}
	for _, p := range r.Points {
		if f.Strikes.Equal(p.Strikes) {
			return p.Stage
		}
	}
	if step := f.Step(); step != "" {
		return step
	}
	return history.Between
}
