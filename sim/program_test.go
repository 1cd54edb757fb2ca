package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A Run that makes the same calls as a client without a Run leaves the same trace, event by
// event.
func TestRunLeavesSameTraceAsDefaultClient(t *testing.T) {
	const naps, nap = 3, 4 * time.Second
	// byHand returns a Run that makes the calls of a client without a Run.
	byHand := func(sections int, extends bool) func(context.Context, *sim.Program) error {
		return func(ctx context.Context, p *sim.Program) error {
			for range sections {
				in, err := p.Acquire(ctx, p.Lock())
				for ; err != nil; in, err = p.Acquire(ctx, p.Lock()) {
					if err := p.Sleep(time.Second); err != nil {
						return err
					}
				}
				err = in.Read(ctx, "x")
				if err == nil {
					err = p.Step(trace.Work, func() (err error) {
						for i := range naps {
							if i > 0 && extends && err == nil {
								err = in.Extend(ctx)
							}
							if err == nil {
								err = p.Sleep(nap)
							}
						}
						return err
					})
				}
				if err == nil {
					err = in.Write(ctx, "x")
				}
				_ = in.Release(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, kind := range []locks.Kind{ToyLock, renewingKind(), Lock(t, "none")} {
		extender := kind.Name == "toy"
		clients := []sim.Client{
			{Name: "client-1", Sections: 2, Works: naps * nap},
			{Name: "client-2", Works: naps * nap, Starts: Point("client-1 acquired")},
		}
		if extender {
			clients[0].ExtendsEvery = nap
		}
		cfg := SectionsWorld(kind, clients...)
		cfg.Nodes = Nodes(kind.System, 3)
		cfg.Network.Max = 3 * Hop
		cfg.Lock.TTL = 10 * time.Second
		cfg.Faults = []sim.Fault{
			{Action: &sim.Pause{Process: "client-1"}, Strikes: trace.Trigger{When: Point("client-1 acquired, 2nd time")}, For: 20 * time.Second},
		}
		want := RunWorld(t, cfg)
		cfg.Clients = []sim.Client{
			{Name: "client-1", Run: byHand(2, extender)},
			{Name: "client-2", Run: byHand(1, false), Starts: clients[1].Starts},
		}
		got := RunWorld(t, cfg)
		if got.Hash() != want.Hash() {
			t.Errorf("%s: the trace of the Run differs from that of the client without a Run: %s", kind.Name, trace.FirstDifference(want, got))
		}
		if n := len(Events(want, trace.KindEnd, "client-1")); n < 8 {
			t.Errorf("%s: client-1 ended %d steps, want at least 8", kind.Name, n)
		}
	}
}

// Two handles in one process exclude each other, like two clients. Every event has the
// number of its section.
func TestTwoHandles(t *testing.T) {
	tr := RunWorld(t, SoloWorld(t, ToyLock, func(ctx context.Context, p *sim.Program) error {
		other, err := p.NewLock()
		if err != nil {
			return err
		}
		one, err := p.Acquire(ctx, p.Lock())
		if err != nil {
			return err
		}
		if in, err := p.Acquire(ctx, other); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("acquire with the other handle returned %v, %v; want %v", in, err, locks.ErrNotAcquired)
		}
		Equal(t, "the first section's number", one.Number(), 1)
		if err := errors.Join(one.Read(ctx, "x"), one.Write(ctx, "x"), one.Extend(ctx), one.Release(ctx)); err != nil {
			return err
		}
		two, err := p.Acquire(ctx, other)
		if err != nil {
			return err
		}
		Equal(t, "the number of the other handle's section", two.Number(), 3)
		if _, ok := two.Lease().(locks.Expirer); !ok {
			t.Errorf("the lease of the other handle is a %T, want a locks.Expirer", two.Lease())
		}
		return errors.Join(two.Write(ctx, "x"), two.Release(ctx))
	}))
	Equal(t, "the steps", sectionSteps(tr), "1 acquire, 2 acquire failed, 1 read, 1 write, 1 extend, 1 release, 3 acquire, 3 write, 3 release")
	Equal(t, "the key", KeyHistory(tr, "toy-1"), "set 1, touch 1, delete 1, set 3, delete 3")
	Equal(t, "the messages", messageSections(tr), "1 acquire, 2 acquire, 1 read, 1 write, 1 extend, 1 release, 3 acquire, 3 write, 3 release")
	Equal(t, "what the storage served", servedSections(tr), "1 read, 1 write, 3 write")
	Equal(t, "what is violated", Violations(tr), "")
}

// sectionSteps lists the steps that have ended, with their sections.
func sectionSteps(tr *trace.Trace) string {
	var steps []string
	for _, ev := range Events(tr, trace.KindEnd, "client-1") {
		step := fmt.Sprint(ev.Section, " ", ev.Step)
		if !ev.OK {
			step += " failed"
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, ", ")
}

// messageSections lists the steps and sections of client-1's requests and of their answers.
// Equal entries in a row are listed once.
func messageSections(tr *trace.Trace) string {
	var requests, replies []string
	note := func(to []string, ev trace.Event) []string {
		step := fmt.Sprint(ev.Section, " ", ev.Step)
		if n := len(to); n > 0 && to[n-1] == step {
			return to
		}
		return append(to, step)
	}
	for _, ev := range tr.Events {
		switch {
		case ev.Handshake:
		case ev.Kind == trace.KindSend && !ev.Reply:
			requests = note(requests, ev)
		case ev.Kind == trace.KindDeliver && ev.Reply:
			replies = note(replies, ev)
		}
	}
	if a, b := strings.Join(requests, ", "), strings.Join(replies, ", "); a != b {
		return a + "; but the replies: " + b
	}
	return strings.Join(requests, ", ")
}

// servedSections lists the requests that the storage has served, with their sections.
func servedSections(tr *trace.Trace) string {
	var steps []string
	for _, ev := range Events(tr, trace.KindServe, trace.StorageName) {
		steps = append(steps, fmt.Sprint(ev.Section, " ", ev.Step))
		if ev.By.Section != ev.Section {
			steps = append(steps, fmt.Sprint("by ", ev.By.Section))
		}
	}
	return strings.Join(steps, ", ")
}

// overlappingSections returns a program whose first section outlasts its lease. When
// another handle holds the lock, the program continues the first section and releases it.
// release is the expected result of that release: "released" or "lost".
func overlappingSections(t *testing.T, release string) func(context.Context, *sim.Program) error {
	return func(ctx context.Context, p *sim.Program) error {
		other, err := p.NewLock()
		if err != nil {
			return err
		}
		one, err := p.Acquire(ctx, p.Lock())
		if err != nil {
			return err
		}
		if err := errors.Join(one.Read(ctx, "x"), p.Sleep(31*time.Second)); err != nil {
			return err
		}
		two, err := p.Acquire(ctx, other)
		if err != nil {
			return err
		}
		err = errors.Join(two.Read(ctx, "x"), two.Write(ctx, "x"), one.Write(ctx, "x"))
		released := "released"
		if one.Release(ctx) != nil {
			released = "lost"
		}
		Equal(t, "the lock of the first section is", released, release)
		_ = two.Release(ctx)
		return err
	}
}

// Two sections of one client overlap. Every step, message, request and key has the number
// of its section, and the same properties are violated as with two clients.
func TestOverlappingSectionsOfOneClient(t *testing.T) {
	// data lists the properties that the overlap violates.
	const data = "section-exclusion inherent: needs fencing, grant-order, write-order, no-lost-update, serial-sections"
	for _, test := range []struct {
		name          string
		options       locks.Options
		first, broken string // result of the first section's release, and the violated properties
	}{
		{"the lock deletes only keys with its value", locks.Options{}, "lost", data},
		{"the lock deletes keys with any value", locks.Options{Without: []string{"value-check"}}, "released", data + ", release-ownership lock"},
	} {
		cfg := SoloWorld(t, ToyLock, overlappingSections(t, test.first))
		cfg.Lock.Options = test.options
		tr := RunWorld(t, cfg)
		const steps = "1 acquire, 1 read, 2 acquire, 2 read, 2 write, 1 write, 1 release%s, 2 release%s"
		failed := [2]any{" failed", ""}
		if test.first == "released" {
			failed = [2]any{"", " failed"}
		}
		Equal(t, test.name+": the steps", sectionSteps(tr), fmt.Sprintf(steps, failed[:]...))
		Equal(t, test.name+": the messages", messageSections(tr), fmt.Sprintf(steps, "", ""))
		Equal(t, test.name+": what the storage served", servedSections(tr), "1 read, 2 read, 2 write, 1 write")
		Equal(t, test.name+": the key", KeyHistory(tr, "toy-1"), "set 1, expire 1, set 2, delete 2")
		Equal(t, test.name+": what is violated", Violations(tr), test.broken)
	}
	cfg := SoloWorld(t, ToyLock, func(ctx context.Context, p *sim.Program) error {
		if err := overlappingSections(t, "lost")(ctx, p); err == nil {
			t.Error("the storage accepted a late write with an older token, want an error")
		}
		return nil
	})
	cfg.Storage.Fencing = storage.Writes
	Equal(t, "with fencing", Violations(RunWorld(t, cfg)), "section-exclusion inherent: needs fencing")
}

// generousLock is a test lock that always grants: it overwrites the key of another holder.
type generousLock struct{ env *locks.Env }

func (g generousLock) Acquire(ctx context.Context) (locks.Lease, error) {
	value := make([]byte, 4)
	g.env.Rand.Read(value)
	return g, ToyOf(g.env, 0).Do(ctx, fmt.Sprintf("set %s %x %d", g.env.Key, value, g.env.TTL.Milliseconds()))
}

func (g generousLock) Release(ctx context.Context) error {
	return ToyOf(g.env, 0).Do(ctx, "drop "+g.env.Key)
}

// A lock that is granted to two handles of one process at the same time violates mutual
// exclusion, as with two clients.
func TestLockGrantedToTwoHandles(t *testing.T) {
	cfg := SoloWorld(t, ToyLock, func(ctx context.Context, p *sim.Program) error {
		other, err := p.NewLock()
		if err != nil {
			return err
		}
		one, err := p.Acquire(ctx, p.Lock())
		if err != nil {
			return err
		}
		two, err := p.Acquire(ctx, other)
		if err != nil {
			return err
		}
		return errors.Join(one.Release(ctx), two.Release(ctx))
	})
	cfg.Lock.Kind.New = func(env *locks.Env) (locks.Lock, error) { return generousLock{env}, nil }
	Equal(t, "two handles at the same time: what is violated", Violations(RunWorld(t, cfg)), "lease-exclusion lock, section-exclusion lock, release-ownership lock, progress lock, release-answer lock")

	cfg.Clients[0].Run = func(ctx context.Context, p *sim.Program) error {
		for range 2 { // one handle after the other, which violates nothing
			in, err := p.Acquire(ctx, p.Lock())
			if err != nil {
				return err
			}
			if err := errors.Join(in.Write(ctx, "x"), in.Release(ctx)); err != nil {
				return err
			}
		}
		return nil
	}
	Equal(t, "one handle twice: what is violated", Violations(RunWorld(t, cfg)), "")
}

// When a lock reports a loss or a renewal, the event has the section of that lease, even if
// the client has begun another section since.
func TestLossAndRenewalsOfAnEarlierSection(t *testing.T) {
	cfg := SoloWorld(t, renewingKind(), func(ctx context.Context, p *sim.Program) error {
		other, err := p.NewLock()
		if err != nil {
			return err
		}
		one, err := p.Acquire(ctx, p.Lock())
		if err != nil {
			return err
		}
		// The client is in a call of acquire nearly all the time, so the lock renews the
		// other lease during such a call.
		for range 210 {
			if _, err := p.Acquire(ctx, other); err == nil {
				t.Error("two handles hold the lock at the same time")
			}
			if err := p.Sleep(time.Millisecond); err != nil {
				return err
			}
		}
		if err := Toy(p, 0).Do(ctx, "drop resource"); err != nil {
			return err
		}
		if _, err := p.Acquire(ctx, other); err != nil {
			return err
		}
		if err := p.Sleep(15 * time.Second); err != nil {
			return err
		}
		if err := one.Write(ctx, "x"); err == nil {
			t.Error("a section wrote although its lease was known to be lost, want an error")
		}
		return nil
	})
	cfg.Network = sim.Network{Min: 50 * Hop, Max: 50 * Hop}
	tr := RunWorld(t, cfg)
	for _, ev := range Events(tr, trace.KindTouch, "toy-1") {
		if ev.By.Section == ev.Owner.Section && ev.At < 20*time.Second {
			t.Errorf("at %v the lock renewed its lease, and the client was not in a call of acquire", ev.At)
		}
	}
	renewed := map[int]int{}
	begun := map[int]bool{}
	for _, ev := range tr.Events {
		switch {
		case ev.Step == trace.Extend && ev.Kind == trace.KindBegin:
			begun[ev.Section] = true
		case ev.Step == trace.Extend && ev.Kind == trace.KindEnd && ev.OK && !begun[ev.Section]:
			renewed[ev.Section]++
		}
	}
	lost := Events(tr, trace.KindLost, "client-1")
	if len(lost) != 1 || lost[0].Section != 1 {
		t.Errorf("the losses are %+v, want one, of section 1", lost)
	}
	// Section 212 is the one that was granted after 210 failed attempts.
	if renewed[1] < 2 || renewed[212] < 1 || len(renewed) != 2 {
		t.Errorf("the numbers of renewals by section are %v, want at least 2 of section 1 and 1 of section 212", renewed)
	}
	// The property release ownership must not blame the renewals. It must blame only the
	// deletion of the other section's key.
	f := checks.Check(history.New(tr), nil).Finding(checks.ReleaseOwnership)
	if f.Outcome != checks.Violated || !strings.Contains(f.Reason.String(), "removed") {
		t.Errorf("release-ownership: %s, %s; want it violated by a removed key", f.Outcome, f.Reason)
	}
}

// doomedLock is a test lock that is granted to every client. All its leases are lost at the
// same moment.
type doomedLock struct{ lost chan struct{} }

func (d doomedLock) Acquire(context.Context) (locks.Lease, error) { return d, nil }
func (d doomedLock) Release(context.Context) error                { return nil }
func (d doomedLock) Lost() <-chan struct{}                        { return d.lost }

// If two leases are lost at the same moment, the loss in the older section is recorded
// first, in whatever order goroutines run.
func TestTwoLossesAtOnce(t *testing.T) {
	for range 50 {
		var lost chan struct{}
		cfg := SoloWorld(t, ToyLock, func(ctx context.Context, p *sim.Program) error {
			for range 4 {
				lock, err := p.NewLock()
				if err != nil {
					return err
				}
				if _, err := p.Acquire(ctx, lock); err != nil {
					return err
				}
			}
			close(lost)
			return p.Sleep(time.Second)
		})
		cfg.Lock.Kind.New = func(*locks.Env) (locks.Lock, error) {
			if lost == nil {
				lost = make(chan struct{})
			}
			return doomedLock{lost}, nil
		}
		cfg.Disturb = func() {
			for range rand.IntN(4) {
				runtime.Gosched()
			}
		}
		var sections []int // of the recorded losses, in the order of the trace
		for _, ev := range Events(RunWorld(t, cfg), trace.KindLost, "client-1") {
			sections = append(sections, ev.Section)
		}
		if !slices.Equal(sections, []int{1, 2, 3, 4}) {
			t.Fatalf("losses were recorded in the sections %v, want [1 2 3 4]", sections)
		}
	}
}

// Program.Sleep sleeps on the process's monotonic clock.
func TestProgramSleep(t *testing.T) {
	var slept time.Duration
	cfg := SoloWorld(t, ToyLock, func(ctx context.Context, p *sim.Program) error {
		began := time.Now()
		err := p.Sleep(10 * time.Second)
		slept = time.Since(began)
		return err
	})
	cfg.Faults = []sim.Fault{{Action: &sim.Drift{Process: "client-1", Rate: -50 * sim.Percent}}}
	RunWorld(t, cfg)
	EqualTime(t, "with the clock at half speed, a sleep of 10s returned", slept, 20*time.Second)

	cfg.Faults = nil
	var err error
	cfg.Clients[0].Run = func(ctx context.Context, p *sim.Program) error {
		err = p.Sleep(time.Hour)
		return err
	}
	RunWorld(t, cfg)
	if err == nil {
		t.Error("a sleep beyond the end of the run ended without an error")
	}
}

// NewLock returns an error in a world without a lock.
func TestNewLockWithoutALock(t *testing.T) {
	cfg := SoloWorld(t, ToyLock, func(ctx context.Context, p *sim.Program) error {
		if lock, err := p.NewLock(); err == nil || p.Lock() != nil {
			t.Errorf("NewLock returned %v, %v, and Lock returned %v; want an error and no lock", lock, err, p.Lock())
		}
		return nil
	})
	cfg.Lock = sim.Lock{}
	RunWorld(t, cfg)
}

// If the storage does not answer, a request ends when its context ends, even if the client
// sends its requests again.
func TestSectionGivesUpWithItsContext(t *testing.T) {
	for _, resends := range []bool{false, true} {
		var read error
		cfg := SoloWorld(t, ToyLock, func(ctx context.Context, p *sim.Program) error {
			in, err := p.Acquire(ctx, p.Lock())
			if err != nil {
				return err
			}
			bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			read = in.Read(bounded, "x")
			return in.Release(ctx)
		})
		cfg.Clients[0].Resends = resends
		cfg.Faults = []sim.Fault{{Action: &sim.Pause{Process: trace.StorageName}, Strikes: trace.Trigger{When: Point("client-1 acquired")}}}
		tr := RunWorld(t, cfg)
		if read == nil || !errors.Is(read, context.DeadlineExceeded) {
			t.Errorf("the read ended with %v, want %v", read, context.DeadlineExceeded)
		}
		Equal(t, "the steps", sectionSteps(tr), "1 acquire, 1 read failed, 1 release")
	}
}
