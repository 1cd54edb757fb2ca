package explore

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// newRunner returns a runner of worlds in this process, and the bases of a lock.
func newRunner(lock string, nodes int) (*runs.Local, []Base) {
	bases := Lock{Name: lock, Nodes: nodes, Extends: true, Seed: 1}.Bases(Kinds{})
	return NewLocal(bases, 10*time.Second), bases
}

func makeRecord(t *testing.T, l *runs.Local, bases []Base, base int) *Record {
	t.Helper()
	r, err := Records{bases, l}.Record(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The record of a base has every step of every client. It has every message of a client
// twice: when it is sent, at the process that sends it, and when it arrives, at the other
// process.
func TestRecordHasEveryStepAndMessage(t *testing.T) {
	for _, lock := range []string{"single", "redlock", "watchdog"} {
		l, bases := newRunner(lock, 0)
		for base := range bases {
			r := makeRecord(t, l, bases, base)
			played, err := l.Report(t.Context(), runs.WorldSpec{Base: base}, runs.FencingOff)
			if err != nil {
				t.Fatal(err)
			}
			steps, sent, arrived := 0, 0, 0
			for _, ev := range played.History.Trace.Events {
				switch {
				case r.Roles[ev.Process] == trace.RoleNode && r.Roles[ev.Peer] == trace.RoleNode:
				case ev.Kind == trace.KindBegin:
					steps++
				case ev.Kind == trace.KindSend && !ev.Handshake:
					sent++
				case ev.Kind == trace.KindDeliver && !ev.Handshake:
					arrived++
				}
			}
			if len(r.Points) != steps+sent+arrived || len(r.Messages) != sent {
				t.Errorf("%s, %s: the record has %d points and %d messages; the run has %d steps, %d messages that were sent and %d that arrived", lock, r.Name, len(r.Points), len(r.Messages), steps, sent, arrived)
			}
			seen := map[string]bool{}
			for _, p := range r.Points {
				where := p.Strikes.String()
				if seen[where] || p.Strikes.Before.IsZero() == p.Strikes.When.IsZero() {
					t.Errorf("%s: the point %+v is there twice, or strikes neither before a step nor at a message", lock, p)
				}
				seen[where] = true
			}
		}
	}
}

// A fault can strike at each point of the record. It strikes at the time at which the run
// without faults reached the point. Each message of the record can be held.
func TestEveryPointCanBeStruck(t *testing.T) {
	l, bases := newRunner("single", 0)
	for base := range bases {
		r := makeRecord(t, l, bases, base)
		strike := func(f runs.Fault) *trace.Event {
			p, err := l.Report(t.Context(), runs.WorldSpec{Base: base, Faults: []runs.Fault{f}}, runs.FencingOff)
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.History.Trace.Events {
				if ev := &p.History.Trace.Events[i]; ev.Kind == trace.KindStrike {
					return ev
				}
			}
			t.Errorf("%s never strikes: %s", f, p.Doubt)
			return nil
		}
		for _, p := range r.Points {
			// If the client does not read its clock, the jump changes nothing. In no case does
			// the jump change an event before the point.
			if ev := strike(item{Kind: "jump", Target: "client-2", By: time.Hour}.fault().WithTrigger(p.Strikes)); ev != nil && ev.At < p.At || ev != nil && ev.At > p.At+time.Microsecond {
				t.Errorf("a fault at the point %+v strikes at %v, want %v", p, ev.At, p.At)
			}
		}
		for _, m := range r.Messages {
			strike(runs.NewFault(&sim.Hold{Message: m.NthMessage}, time.Millisecond))
		}
	}
}

// The world with any single fault can be run, and nearly all single faults act in their worlds.
func TestSingleFaultsMakeSense(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs thousands of worlds")
	}
	l, bases := newRunner("single", 0)
	for base := range bases {
		doubtful := 0
		singles := makeRecord(t, l, bases, base).Singles()
		for _, w := range singles {
			f := w.Faults[0]
			o, err := l.Run(t.Context(), w)
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			if o.Off.Doubt != "" {
				doubtful++
				if doubtful < 4 {
					t.Logf("%s: %s", f, o.Off.Doubt)
				}
			}
		}
		if doubtful > len(singles)/50 {
			t.Errorf("%d of %d worlds with single faults are inconclusive, want at most one in fifty", doubtful, len(singles))
		}
	}
}

// A search skips the run with fencing tokens if that run cannot differ from the run without
// them. This test makes such runs, and checks that they do not differ.
func TestFencingChangesNothingWhereNothingBroke(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs hundreds of worlds")
	}
	for _, lock := range []string{"single", "redlock", "watchdog"} {
		l, bases := newRunner(lock, 3)
		random := rand.New(rand.NewPCG(1, 2))
		for base := range bases {
			r := makeRecord(t, l, bases, base)
			singles := r.Singles()
			for range 60 {
				w, b := singles[random.IntN(len(singles))], singles[random.IntN(len(singles))]
				if both, ok := w.WithFaultsOf(b); ok && random.IntN(2) == 0 {
					w = both
				}
				off, err := l.Report(t.Context(), w, runs.FencingOff)
				if err != nil {
					t.Fatal(err)
				}
				if len(off.Breaks) > 0 {
					continue
				}
				on, err := l.Report(t.Context(), w, runs.FencingOn)
				if err != nil {
					t.Fatal(err)
				}
				if on.Behaviour != off.Behaviour || len(on.Breaks) > 0 || on.Doubt != off.Doubt {
					t.Errorf("%s: %v: without fencing nothing broke, and with it %v; behaviour %x and %x", lock, w.Faults, on.Breaks, off.Behaviour, on.Behaviour)
				}
			}
		}
	}
}

// All times in a workload are in proportion to the TTL.
func TestWorkloadsScale(t *testing.T) {
	count := func(ttl time.Duration) (points int) {
		bases := Lock{Name: "single", TTL: ttl, Extends: true, Seed: 1}.Bases(Kinds{})
		l := NewLocal(bases, 10*time.Second)
		for base := range bases {
			r := makeRecord(t, l, bases, base)
			if !r.CanExplore() || r.Outcome.Broke() {
				t.Errorf("TTL %v, %s: the result without faults is %+v, want that nothing breaks", ttl, r.Name, r.Outcome)
			}
			points += len(r.Points)
		}
		return points
	}
	want := count(30 * time.Second)
	for _, ttl := range []time.Duration{2 * time.Second, time.Minute, time.Hour} {
		if got := count(ttl); got != want {
			t.Errorf("with a TTL of %v there are %d points, with one of 30s %d", ttl, got, want)
		}
	}
}

// Every scenario of the catalogue can be used as a workload in which no client waits
// forever. A scenario in which no client waits forever stays as it is.
func TestEveryScenarioIsAWorkload(t *testing.T) {
	if testing.Short() {
		t.Skip("this test runs hundreds of worlds")
	}
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			if k, _ := locks.Lookup(v.Lock); k.CheckProvided() != nil {
				continue
			}
			base := FileBase(v, 1)
			before, err := Records{[]Base{base}, NewLocal([]Base{base}, 10*time.Second)}.Record(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			free, late, endless, err := base.WithBoundedWaits(10 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			after, err := Records{[]Base{free}, NewLocal([]Base{free}, 10*time.Second)}.Record(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if !after.CanExplore() {
				t.Errorf("%s cannot be a workload: %s", base.Name, after.Outcome.Off.Doubt)
			}
			if before.CanExplore() != (len(late)+len(endless) == 0) {
				t.Errorf("%s: the starts of %v and the works-until of %v were changed; the doubt about the run without these changes is %q", base.Name, late, endless, before.Outcome.Off.Doubt)
			}
		}
	}
}
