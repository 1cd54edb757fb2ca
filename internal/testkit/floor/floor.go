// Package floor is the lower test kit, for the tests of everything below scenarios and
// reports. It has the words in which tests describe a world: what the clients do, which
// faults strike when, and what must have happened. It also has a small server and its lock,
// traces written by hand, files with mistakes, and functions that repeat and measure
// worlds. Tests of package sim and of its servers import it with a dot.
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

// Hop is how long every message takes in a ToyWorld, so a test can compute its times.
const Hop = time.Millisecond

// ToyWorld returns a world with one node, toy-1, and clients that run programs.
func ToyWorld(clients ...sim.Client) sim.Config {
	return sim.Config{
		Name: "story", Seed: 1, Horizon: 10 * time.Minute,
		Network: sim.Network{Min: Hop, Max: Hop},
		Nodes:   Nodes("toy", 1),
		Clients: clients,
	}
}

// WithFaults returns the same world with more faults.
func WithFaults(cfg sim.Config, faults ...sim.Fault) sim.Config {
	cfg.Faults = append(slices.Clone(cfg.Faults), faults...)
	return cfg
}

// Client returns a client that runs a program; an error of the program fails the test.
func Client(t *testing.T, name string, run func(ctx context.Context, p *sim.Program) error) sim.Client {
	return sim.Client{Name: name, Run: func(ctx context.Context, p *sim.Program) error {
		err := run(ctx, p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return err
	}}
}

// RunWorld runs a world; an error fails the test.
func RunWorld(t *testing.T, cfg sim.Config) *trace.Trace {
	t.Helper()
	tr, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// At returns a fault that strikes at a true time.
func At(d time.Duration, a sim.Action) sim.Fault {
	return newFault(trace.Trigger{At: d}, a)
}

// When returns a fault that strikes at a point.
func When(point string, a sim.Action) sim.Fault {
	return newFault(trace.Trigger{When: Point(point)}, a)
}

// Before returns a fault that strikes before a client takes a step.
func Before(step string, a sim.Action) sim.Fault {
	p, err := trace.ParseStepPoint(step)
	if err != nil {
		panic(err)
	}
	return newFault(trace.Trigger{Before: p}, a)
}

func newFault(strikes trace.Trigger, a sim.Action) sim.Fault {
	return sim.Fault{Strikes: strikes, Action: a, Text: fmt.Sprintf("%+v", a)}
}

// Lasting returns the fault f with an end after the duration d.
func Lasting(d time.Duration, f sim.Fault) sim.Fault {
	f.For = d
	return f
}

// Until returns the fault f with an end at a point.
func Until(point string, f sim.Fault) sim.Fault {
	f.Until = Point(point)
	return f
}

// Stopped returns a pause in which the process's clocks run on.
func Stopped(process string) *sim.Pause { return &sim.Pause{Process: process} }

// Suspended returns a pause in which the process's machine is suspended, with its monotonic
// clock.
func Suspended(process string) *sim.Pause {
	return &sim.Pause{Process: process, Mode: trace.Suspend}
}

// Crashed returns a crash of a process.
func Crashed(process string, how trace.Crash) *sim.CrashFault {
	return &sim.CrashFault{Process: process, How: how}
}

// HeldMessage parses a message for a fault to hold, such as "client-1's request to
// redis-1".
func HeldMessage(message string) trace.NthMessage {
	m, err := trace.ParseNthMessage(message)
	if err != nil {
		panic(err)
	}
	return m
}

// Point parses a point; it panics if s is not a point.
func Point(s string) trace.Point {
	p, err := trace.ParsePoint(s)
	if err != nil {
		panic(err)
	}
	return p
}

// bubbleStart is the true time at which every bubble of testing/synctest starts, and so
// every world.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Now returns the true time since the start of the world; it is called inside the world.
func Now() time.Duration { return time.Since(bubbleStart) }

// SleepUntil sleeps until a moment of true time, as a library does that ignores its
// process's simulated clocks.
func SleepUntil(at time.Duration) { time.Sleep(at - Now()) }

// WithTrueTimeout returns a context that ends after the duration d of true time.
func WithTrueTimeout(ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(ctx, d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// Dial opens a plain connection to a node.
func Dial(ctx context.Context, p *sim.Program, node int) (net.Conn, error) {
	env := p.Env()
	return env.Dial(ctx, "tcp", env.Nodes[node])
}

// Ask sends a line over a plain connection and returns the first bytes of the reply.
func Ask(c net.Conn, line string) (string, error) {
	if _, err := c.Write([]byte(line + "\r\n")); err != nil {
		return "", err
	}
	return ReadReply(c)
}

// ReadReply returns the next bytes that arrive over a plain connection.
func ReadReply(c net.Conn) (string, error) {
	b := make([]byte, 512)
	n, err := c.Read(b)
	return string(b[:n]), err
}
