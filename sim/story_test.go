package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/locksim/locksim/trace"
)

// hop is how long every message takes in the worlds of these tests, so that the
// times of a story can be worked out.
const hop = time.Millisecond

// story is a world with one Redis node and clients that run programs.
func story(clients ...Client) Config {
	return Config{
		Name: "story", Seed: 1, Horizon: 10 * time.Minute,
		Network: Network{Min: hop, Max: hop},
		Nodes:   []Node{{Name: "redis-1", Persistence: NoPersistence}},
		Clients: clients,
	}
}

// with is the same story with faults.
func with(cfg Config, faults ...Fault) Config {
	cfg.Faults = append(slices.Clone(cfg.Faults), faults...)
	return cfg
}

// client is a client that runs a program; an error of it fails the test.
func client(t *testing.T, name string, run func(ctx context.Context, p *Program) error) Client {
	return Client{Name: name, Run: func(ctx context.Context, p *Program) error {
		err := run(ctx, p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return err
	}}
}

// shake is a [Config.Disturb] that has the scheduler choose otherwise each time.
func shake() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}

// play runs a world.
func play(t *testing.T, cfg Config) *trace.Trace {
	t.Helper()
	tr, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// at, when and before make faults; lasting and until end them.
func at(d time.Duration, a Action) Fault {
	return Fault{Strikes: trace.Trigger{At: d}, Action: a, Text: fmt.Sprintf("%+v", a)}
}

func when(point string, a Action) Fault {
	return Fault{Strikes: trace.Trigger{When: point1(point)}, Action: a, Text: fmt.Sprintf("%+v", a)}
}

func before(step string, a Action) Fault {
	p, err := trace.ParseStepPoint(step)
	if err != nil {
		panic(err)
	}
	return Fault{Strikes: trace.Trigger{Before: p}, Action: a, Text: fmt.Sprintf("%+v", a)}
}

func lasting(d time.Duration, f Fault) Fault {
	f.For = d
	return f
}

func until(point string, f Fault) Fault {
	f.Until = point1(point)
	return f
}

// point1 is a point that is known to be one.
func held(s string) trace.NthMessage {
	m, err := trace.ParseNthMessage(s)
	if err != nil {
		panic(err)
	}
	return m
}

func point1(s string) trace.Point {
	p, err := trace.ParsePoint(s)
	if err != nil {
		panic(err)
	}
	return p
}

// now is true time since the start of the story.
func now(p *Program) time.Duration { return p.g.w.now() }

// sleepUntil sleeps to a moment of true time, as a library does that knows
// nothing of its process's clocks.
func sleepUntil(p *Program, at time.Duration) { time.Sleep(at - now(p)) }

// within bounds a request in true time.
func within(ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(ctx, d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// libraryClient is a client of the first node with go-redis's own handling of
// connections; each command is sent once.
func libraryClient(p *Program) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: nodeAddr(0), Dialer: p.Env().Dial, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		ContextTimeoutEnabled:    true, MaxRetries: -1,
	})
}

// dialTo opens a plain connection to a node.
func dialTo(ctx context.Context, p *Program, node int) (net.Conn, error) {
	return p.Env().Dial(ctx, "tcp", nodeAddr(node))
}

// ask sends a command over a plain connection and returns what comes back first.
func ask(c net.Conn, command string) (string, error) {
	if _, err := c.Write([]byte(command + "\r\n")); err != nil {
		return "", err
	}
	return hear(c)
}

// hear is what comes next over a plain connection.
func hear(c net.Conn) (string, error) {
	b := make([]byte, 512)
	n, err := c.Read(b)
	return string(b[:n]), err
}

// events are those of one kind of one process, in order.
func events(tr *trace.Trace, kind trace.Kind, process string) []trace.Event {
	var found []trace.Event
	for _, ev := range tr.Events {
		if ev.Kind == kind && ev.Process == process {
			found = append(found, ev)
		}
	}
	return found
}

// only is the one event of a kind of a process.
func only(t *testing.T, tr *trace.Trace, kind trace.Kind, process string) trace.Event {
	t.Helper()
	found := events(tr, kind, process)
	if len(found) != 1 {
		t.Fatalf("%d events %q of %s, want 1\n%s", len(found), kind, process, tell(tr))
	}
	return found[0]
}

// first is the first event of a kind of a process.
func first(t *testing.T, tr *trace.Trace, kind trace.Kind, process string) trace.Event {
	t.Helper()
	found := events(tr, kind, process)
	if len(found) == 0 {
		t.Fatalf("no event %q of %s\n%s", kind, process, tell(tr))
	}
	return found[0]
}

// none says that a process has no event of a kind.
func none(t *testing.T, tr *trace.Trace, kind trace.Kind, process string) {
	t.Helper()
	if n := len(events(tr, kind, process)); n > 0 {
		t.Errorf("%d events %q of %s, want none\n%s", n, kind, process, tell(tr))
	}
}

// struck says that every fault has acted.
func struck(t *testing.T, tr *trace.Trace) {
	t.Helper()
	for i, f := range tr.Faults {
		if f.Idle != "" {
			t.Errorf("fault %d (%s) did not act: %s", i+1, f.Text, f.Idle)
		}
	}
}

// tell shows a trace.
func tell(tr *trace.Trace) string {
	var b []byte
	for _, e := range tr.Events {
		b = fmt.Appendf(b, "%4d %14v %-8s %-9s %-9s conn %d msg %d %s %s %s\n", e.Seq, e.At, e.Kind, e.Process, e.Peer, e.Conn, e.Msg, e.Text, e.Key, e.Value)
	}
	return string(b)
}

// about compares moments. Every moment of a world has a nanosecond of its own, so
// that one may be a few nanoseconds late.
func about(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if late := got - want; late < 0 || late > time.Microsecond {
		t.Errorf("%s at %v, want %v", what, got, want)
	}
}

// same compares two values.
func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
