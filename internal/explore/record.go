package explore

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Record is what the run of a base without faults shows: which processes there are, where
// faults can strike, and the result.
type Record struct {
	// Base is the index of the base among the bases of the search, and Name its name.
	Base int
	Name string
	// Lock is the kind of lock, TTL how long a grant lasts, and Takeover how long another
	// client waits for a crashed holder.
	Lock          string
	TTL, Takeover time.Duration
	// System is the kind of server that keeps the lock.
	System string
	// OwnClock reports whether the lock reads its process's clock, so that a fault of that
	// clock can make a difference.
	OwnClock bool
	// Clients and Nodes are the names of processes, in the order of the base. Nodes has
	// only the nodes that keep the lock.
	Clients, Nodes []string
	// Replicas are the nodes that follow another node.
	Replicas []string
	// alike has, for each of the Nodes, the first of them from which it differs only in its name.
	// quorumSides says of each message to or from a node whether it comes before the message that
	// completes a quorum; see findQuorumSides.
	alike       map[string]string
	quorumSides map[string]quorumSide
	// Roles has the role of every process.
	Roles map[string]trace.Role
	// Points are the moments at which a fault can strike, in the order of the run.
	Points []InjectionPoint
	// Messages are the messages that a fault can hold or lose, in the order in which they
	// are sent.
	Messages []Message
	// Outcome is the result of the run.
	Outcome runs.WorldResult
}

// system returns the kind of server that keeps the lock.
func (r *Record) system() sim.System {
	s, _ := sim.LookupSystem(r.System)
	return s
}

// An InjectionPoint is a moment of the run of a base at which something happens to one
// process: it begins or ends a step, it sends a message, or a message is sent to it.
type InjectionPoint struct {
	// Process is the process to which something happens.
	Process string
	// Strikes is the trigger for a fault: before a step, or when a message is on its way or
	// has arrived.
	Strikes trace.Trigger
	// Stage is the step in which the process is at this moment, if it is a client. For another
	// process it is the step of the client that holds the lock or asks for it at this moment.
	Stage trace.Step
	// At is the true time, since the start of the run, at which the run without faults reaches
	// the point.
	At time.Duration
}

// isStep reports whether a client begins a step at the point.
func (p InjectionPoint) isStep() bool { return !p.Strikes.Before.IsZero() }

// A Message is one message of the run.
type Message struct {
	// In the NthMessage, Nth is 0 for the first message of its kind.
	trace.NthMessage
	// Stage is the step in which the client is when the message is sent.
	Stage trace.Step
	// At is the true time at which the message is sent in the run without faults.
	At time.Duration
}

// CanExplore reports whether the base can be explored: its two runs without faults must be
// conclusive.
func (r *Record) CanExplore() bool { return r.Outcome.Off.Doubt == "" && r.Outcome.On.Doubt == "" }

// stageOf returns the step of a client, such as acquire, in which a fault strikes.
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
