// Package floor is the lower test kit, for the tests of all that stands below scenarios and
// reports. It has the words in which tests describe a world (who does what, which faults strike
// when, what must have happened), a small server and its lock, traces written by hand, files
// with mistakes, and what repeats and measures worlds. Tests of package sim and of its servers
// import it with a dot.
package floor

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Hop is how long every message takes in a story, so that its times can be worked out.
const Hop = time.Millisecond

// Story is a world with one node, toy-1, and clients that run programs.
func Story(clients ...sim.Client) sim.Config {
	return sim.Config{
		Name: "story", Seed: 1, Horizon: 10 * time.Minute,
		Network: sim.Network{Min: Hop, Max: Hop},
		Nodes:   Nodes("toy", 1),
		Clients: clients,
	}
}

// With is the same story with faults.
func With(cfg sim.Config, faults ...sim.Fault) sim.Config {
	cfg.Faults = append(slices.Clone(cfg.Faults), faults...)
	return cfg
}

// Client is a client that runs a program; an error of it fails the test.
func Client(t *testing.T, name string, run func(ctx context.Context, p *sim.Program) error) sim.Client {
	return sim.Client{Name: name, Run: func(ctx context.Context, p *sim.Program) error {
		err := run(ctx, p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return err
	}}
}

// Play runs a world.
func Play(t *testing.T, cfg sim.Config) *trace.Trace {
	t.Helper()
	tr, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// At is a fault that strikes at a true time.
func At(d time.Duration, a sim.Action) sim.Fault {
	return fault(trace.Trigger{At: d}, a)
}

// When is a fault that strikes at a point.
func When(point string, a sim.Action) sim.Fault {
	return fault(trace.Trigger{When: Point(point)}, a)
}

// Before is a fault that strikes before a client takes a step.
func Before(step string, a sim.Action) sim.Fault {
	p, err := trace.ParseStepPoint(step)
	if err != nil {
		panic(err)
	}
	return fault(trace.Trigger{Before: p}, a)
}

func fault(strikes trace.Trigger, a sim.Action) sim.Fault {
	return sim.Fault{Strikes: strikes, Action: a, Text: fmt.Sprintf("%+v", a)}
}

// Lasting is the fault, with an end after a time.
func Lasting(d time.Duration, f sim.Fault) sim.Fault {
	f.For = d
	return f
}

// Until is the fault, with an end at a point.
func Until(point string, f sim.Fault) sim.Fault {
	f.Until = Point(point)
	return f
}

// Stopped is a pause in which the process's clocks run on.
func Stopped(process string) *sim.Pause { return &sim.Pause{Process: process} }

// Suspended is a pause in which the process's machine stands still.
func Suspended(process string) *sim.Pause {
	return &sim.Pause{Process: process, Mode: trace.Suspend}
}

// Crashed is a crash of a process.
func Crashed(process string, how trace.Crash) *sim.CrashFault {
	return &sim.CrashFault{Process: process, How: how}
}

// Held is a message for a fault to hold, such as "client-1's request to redis-1".
func Held(message string) trace.NthMessage {
	m, err := trace.ParseNthMessage(message)
	if err != nil {
		panic(err)
	}
	return m
}

// Point is a point that is known to be one.
func Point(s string) trace.Point {
	p, err := trace.ParsePoint(s)
	if err != nil {
		panic(err)
	}
	return p
}

// began is when every story begins: the true time at which a bubble of testing/synctest
// starts.
var began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Now is true time since the start of the story, inside it.
func Now() time.Duration { return time.Since(began) }

// SleepUntil sleeps to a moment of true time, as a library does that knows nothing of its
// process's clocks.
func SleepUntil(at time.Duration) { time.Sleep(at - Now()) }

// Within bounds a request in true time.
func Within(ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(ctx, d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// Dial opens a plain connection to a node.
func Dial(ctx context.Context, p *sim.Program, node int) (net.Conn, error) {
	env := p.Env()
	return env.Dial(ctx, "tcp", env.Nodes[node])
}

// Ask sends a line over a plain connection and returns what comes back first.
func Ask(c net.Conn, line string) (string, error) {
	if _, err := c.Write([]byte(line + "\r\n")); err != nil {
		return "", err
	}
	return Hear(c)
}

// Hear is what comes next over a plain connection.
func Hear(c net.Conn) (string, error) {
	b := make([]byte, 512)
	n, err := c.Read(b)
	return string(b[:n]), err
}
