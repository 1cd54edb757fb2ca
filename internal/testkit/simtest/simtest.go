// Package simtest has helpers for tests that need a simulated world, but not the packages
// scenarios and reports. This file has short functions to describe a world: what the
// clients do, and which faults strike when. The other files have a small server and its
// lock, traces written by hand, scenario files with mistakes, and functions that repeat and
// measure worlds. Tests of package sim and of its servers import the package with a dot.
package simtest

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

// Hop is how long every message takes in a ToyWorld. All messages take equally long, so a
// test can predict when something happens.
const Hop = time.Millisecond

// ToyWorld returns a world with one node, toy-1, which is a [toy], and with the given
// clients.
func ToyWorld(clients ...sim.Client) sim.Config {
	return sim.Config{
		Name: "story", Seed: 1, Horizon: 10 * time.Minute,
		Network: sim.Network{Min: Hop, Max: Hop},
		Nodes:   Nodes("toy", 1),
		Clients: clients,
	}
}

// WithFaults returns a copy of a world with more faults.
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

// At returns a fault that strikes at a true time since the start of the run.
func At(d time.Duration, a sim.Action) sim.Fault {
	return newFault(trace.Trigger{At: d}, a)
}

// When returns a fault that strikes at a point.
func When(point string, a sim.Action) sim.Fault {
	return newFault(trace.Trigger{When: Point(point)}, a)
}

// Before returns a fault that strikes just before a client begins a step, such as "client-1
// write".
func Before(step string, a sim.Action) sim.Fault {
	p, err := trace.ParseStepPoint(step)
	if err != nil {
		panic(err)
	}
	return newFault(trace.Trigger{Before: p}, a)
}

func newFault(trigger trace.Trigger, a sim.Action) sim.Fault {
	return sim.Fault{Strikes: trigger, Action: a, Text: fmt.Sprintf("%+v", a)}
}

// Lasting returns the fault f with an end: the duration d after it strikes.
func Lasting(d time.Duration, f sim.Fault) sim.Fault {
	f.For = d
	return f
}

// Until returns the fault f with an end: the next time that the point is reached.
func Until(point string, f sim.Fault) sim.Fault {
	f.Until = Point(point)
	return f
}

// PauseOf returns a fault that pauses a process while its clocks run on.
func PauseOf(process string) *sim.Pause { return &sim.Pause{Process: process} }

// SuspensionOf returns a fault that suspends a process's machine, so that its monotonic
// clock stops too.
func SuspensionOf(process string) *sim.Pause {
	return &sim.Pause{Process: process, Mode: trace.Suspend}
}

// CrashOf returns a fault that crashes a process.
func CrashOf(process string, how trace.Crash) *sim.CrashFault {
	return &sim.CrashFault{Process: process, How: how}
}

// HeldMessage parses the message that a fault is to hold back, such as "client-1's request
// to redis-1". It panics if the text selects no message.
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

// bubbleStart is the time at which every bubble of testing/synctest starts, and so every
// world.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Now returns the true time since the start of the world. It must be called inside the
// world.
func Now() time.Duration { return time.Since(bubbleStart) }

// SleepUntil sleeps until a true time since the start of the world, as a library does that
// ignores its process's simulated clocks.
func SleepUntil(at time.Duration) { time.Sleep(at - Now()) }

// WithTrueTimeout returns a context that ends after the duration d of true time.
func WithTrueTimeout(ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(ctx, d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// Dial opens a connection to a node, counted from 0, without a client library.
func Dial(ctx context.Context, p *sim.Program, node int) (net.Conn, error) {
	env := p.Env()
	return env.Dial(ctx, "tcp", env.Nodes[node])
}

// Ask sends a line over such a connection and returns the first bytes of the reply.
func Ask(c net.Conn, line string) (string, error) {
	if _, err := c.Write([]byte(line + "\r\n")); err != nil {
		return "", err
	}
	return ReadReply(c)
}

// ReadReply returns the next bytes that arrive over such a connection.
func ReadReply(c net.Conn) (string, error) {
	b := make([]byte, 512)
	n, err := c.Read(b)
	return string(b[:n]), err
}
