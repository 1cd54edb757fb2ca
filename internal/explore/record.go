package explore

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Record is what the run of a base without faults shows.
type Record struct {
	Base int
	Name string
	// Lock is the kind of lock, TTL the duration of a grant, and Takeover that of the
	// [Base].
	Lock          string
	TTL, Takeover time.Duration
	// System is the kind of server that stores the lock.
	System string
	// OwnClock reports whether the lock reads its process's clock.
	OwnClock bool
	// Clients and Nodes are processes, in the order of the base. Nodes has only the nodes
	// that store the lock.
	Clients, Nodes []string
	// Replicas are the nodes that follow another node.
	Replicas []string
	// Roles has the role of every process.
	Roles map[string]trace.Role
	// Points are where a fault can strike, in the order in which the run reaches them.
	Points []InjectionPoint
	// Messages are those that can be held or lost, in the order in which they are sent.
	Messages []Message
	// Outcome is the result of the run.
	Outcome runs.WorldResult
}

// system returns the kind of server that stores the lock.
func (r *Record) system() sim.System {
	s, _ := sim.LookupSystem(r.System)
	return s
}

// An InjectionPoint is a moment in the story of a base as one process sees it: the process
// begins or ends a step, or it sends a message, or one is sent to it.
type InjectionPoint struct {
	// Process is the process to which something happens.
	Process string
	// Strikes is the trigger for a fault: before a step, or when a message is on its way or
	// has arrived.
	Strikes trace.Trigger
	// Stage is the step in which the process is, if it is a client. Otherwise it is the
	// step of the client that then holds the lock or asks for it.
	Stage trace.Step
	// At is the true time at which the run without faults reaches the point.
	At time.Duration
}

// isStep reports whether the point is before a step of a client.
func (p InjectionPoint) isStep() bool { return !p.Strikes.Before.IsZero() }

// A Message is one message of the run.
type Message struct {
	// The first message of its kind has no number.
	trace.NthMessage
	Stage trace.Step
	// At is the true time at which it is sent in the run without faults.
	At time.Duration
}

// CanExplore reports whether the base can be explored: without faults its runs are
// conclusive.
func (r *Record) CanExplore() bool { return r.Outcome.Off.Doubt == "" && r.Outcome.On.Doubt == "" }

// stageOf returns the stage that a fault strikes.
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
