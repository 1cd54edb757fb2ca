package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A server is notified of each change of its clock. So a key with a TTL of ten seconds
// expires by that clock, and not by true time.
func TestKeyExpiresByTheServersClock(t *testing.T) {
	const served = 3 * Hop // when the test server gets the request: a dial takes two hops, and the request one
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		err := Toy(p, 0).Do(ctx, "set k v 10000")
		SleepUntil(30 * time.Second)
		return err
	}))
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		ends   time.Duration // when the key expires
	}{
		{"no fault", nil, served + 10*time.Second},
		{"jump back by 4s", []sim.Fault{At(3*time.Second, &sim.Jump{"toy-1", -4 * time.Second})}, served + 14*time.Second},
		{"jump forward by 4s", []sim.Fault{At(3*time.Second, &sim.Jump{"toy-1", 4 * time.Second})}, served + 6*time.Second},
		{"jump forward past the end of the key", []sim.Fault{At(3*time.Second, &sim.Jump{"toy-1", 31 * time.Second})}, 3 * time.Second},
		{"jump of the client's clock", []sim.Fault{At(3*time.Second, &sim.Jump{"client-1", time.Hour})}, served + 10*time.Second},
		{"fast by 25%", []sim.Fault{At(0, &sim.Drift{"toy-1", 25 * sim.Percent})}, served + 8*time.Second},
		// 3 s at +50% are 4.5 s, which leaves 5.5 s at the right rate.
		{"fast by 50% for three seconds", []sim.Fault{Lasting(3*time.Second, When("client-1 holds toy-1", &sim.Drift{"toy-1", 50 * sim.Percent}))}, served + 8500*time.Millisecond},
		{"jump forward by 4s during a pause", []sim.Fault{
			Lasting(4*time.Second, At(2*time.Second, PauseOf("toy-1"))),
			At(3*time.Second, &sim.Jump{"toy-1", 4 * time.Second}),
		}, served + 6*time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, WithFaults(cfg, test.faults...))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the key was set", OnlyEvent(t, tr, trace.KindSet, "toy-1").At, served)
			EqualTime(t, "the key expired", OnlyEvent(t, tr, trace.KindExpire, "toy-1").At, test.ends)
		})
	}
}

// Faults of clocks change the clocks that a client's code reads, but not the true time that
// a library reads with package time.
func TestClientClocks(t *testing.T) {
	type clocks struct {
		slept                 time.Duration // how long a sleep of ten seconds took, in true time
		wall, monotonic, true time.Duration // time that passed on each clock during that sleep
	}
	for _, test := range []struct {
		name  string
		fault []sim.Fault
		want  clocks
	}{
		{"no fault", nil, clocks{10 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		{"jump forward", []sim.Fault{At(3*time.Second, &sim.Jump{"client-1", time.Hour})}, clocks{10 * time.Second, time.Hour + 10*time.Second, 10 * time.Second, 10 * time.Second}},
		{"jump back", []sim.Fault{At(3*time.Second, &sim.Jump{"client-1", -time.Minute})}, clocks{10 * time.Second, -50 * time.Second, 10 * time.Second, 10 * time.Second}},
		{"jump of the node's clock", []sim.Fault{At(3*time.Second, &sim.Jump{"toy-1", time.Hour})}, clocks{10 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		{"fast by 25%", []sim.Fault{At(0, &sim.Drift{"client-1", 25 * sim.Percent})}, clocks{8 * time.Second, 10 * time.Second, 10 * time.Second, 8 * time.Second}},
		{"slow by 50%", []sim.Fault{At(0, &sim.Drift{"client-1", -50 * sim.Percent})}, clocks{20 * time.Second, 10 * time.Second, 10 * time.Second, 20 * time.Second}},
		{"two drifts of -50%: a quarter of the speed", []sim.Fault{At(0, &sim.Drift{"client-1", -50 * sim.Percent}), At(0, &sim.Drift{"client-1", -50 * sim.Percent})},
			clocks{40 * time.Second, 10 * time.Second, 10 * time.Second, 40 * time.Second}},
		{"two drifts of +50%: 2.25 times the speed", []sim.Fault{At(0, &sim.Drift{"client-1", 50 * sim.Percent}), At(0, &sim.Drift{"client-1", 50 * sim.Percent})},
			clocks{4444444 * time.Microsecond, 10 * time.Second, 10 * time.Second, 4444444 * time.Microsecond}},
		{"drifts of -50% and +50%: three quarters of the speed", []sim.Fault{At(0, &sim.Drift{"client-1", -50 * sim.Percent}), At(0, &sim.Drift{"client-1", 50 * sim.Percent})},
			clocks{13333333 * time.Microsecond, 10 * time.Second, 10 * time.Second, 13333333 * time.Microsecond}},
		// 4 s at a quarter are 1 s, 4 s at a half 2 s, and 7 s at the right rate.
		{"two drifts of -50% that overlap, and the first ends first", []sim.Fault{Lasting(4*time.Second, At(0, &sim.Drift{"client-1", -50 * sim.Percent})), Lasting(8*time.Second, At(0, &sim.Drift{"client-1", -50 * sim.Percent}))},
			clocks{15 * time.Second, 10 * time.Second, 10 * time.Second, 15 * time.Second}},
		{"two jumps add up", []sim.Fault{At(3*time.Second, &sim.Jump{"client-1", time.Hour}), At(3*time.Second, &sim.Jump{"client-1", -time.Minute})},
			clocks{10 * time.Second, 59*time.Minute + 10*time.Second, 10 * time.Second, 10 * time.Second}},
		{"slow by 50% for four seconds", []sim.Fault{Lasting(4*time.Second, At(0, &sim.Drift{"client-1", -50 * sim.Percent}))}, clocks{12 * time.Second, 10 * time.Second, 10 * time.Second, 12 * time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got clocks
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				c := p.Clock()
				began, wall, monotonic, library := Now(), c.Now(), c.Read(fakeclock.Monotonic), time.Now()
				err := c.Sleep(ctx, 10*time.Second)
				got = clocks{
					slept:     (Now() - began).Round(time.Microsecond),
					wall:      c.Now().Sub(wall).Round(time.Microsecond),
					monotonic: c.Read(fakeclock.Monotonic).Sub(monotonic).Round(time.Microsecond),
					true:      time.Since(library).Round(time.Microsecond),
				}
				return err
			})), test.fault...))
			AllFaultsStruck(t, tr)
			Equal(t, "the client's sleep and clocks", got, test.want)
		})
	}
}

// The trace shows what the clocks read after each change.
func TestTraceOfClockChanges(t *testing.T) {
	tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		return p.Clock().Sleep(ctx, 10*time.Second)
	})),
		At(time.Second, &sim.Jump{"client-1", time.Minute}),
		Lasting(2*time.Second, At(3*time.Second, &sim.Drift{"client-1", 10 * sim.Percent})),
	))
	changes := Events(tr, trace.KindClock, "client-1")
	if len(changes) != 4 {
		t.Fatalf("%d changes of the clock, want 4\n%s", len(changes), Dump(tr))
	}
	start := changes[0]
	for i, want := range []struct {
		why             string
		at              time.Duration
		wall, monotonic time.Duration // since the start, on that clock
		rate            int64
	}{
		{"", 0, 0, 0, 0},
		{"jump", time.Second, 61 * time.Second, time.Second, 0},
		{"drift", 3 * time.Second, 63 * time.Second, 3 * time.Second, 100_000_000},
		{"drift", 5 * time.Second, 65200 * time.Millisecond, 5200 * time.Millisecond, 0},
	} {
		ev := changes[i]
		Equal(t, "why the clock changed", ev.Clocks.Why, trace.ClockChange(want.why))
		Equal(t, "the rate after the change", ev.Clocks.RatePPB, want.rate)
		if i > 0 {
			EqualTime(t, "the clock changed by "+want.why, ev.At, want.at)
		}
		EqualTime(t, "the wall clock is", time.Duration(ev.Clocks.Wall-start.Clocks.Wall), want.wall)
		EqualTime(t, "the monotonic clock is", time.Duration(ev.Clocks.Monotonic-start.Clocks.Monotonic), want.monotonic)
	}
}

func TestParseRate(t *testing.T) {
	for _, test := range []struct {
		text string
		want sim.Rate
	}{
		{"+2%", 20_000_000}, {"2%", 20_000_000}, {"-500ppm", -500_000}, {"+3ppb", 3}, {"0.5%", 5_000_000},
		{" -0.001 ppm ", -1}, {"+0%", 0}, {"50%", 500_000_000}, {"-50%", -500_000_000},
	} {
		rate, err := sim.ParseRate(test.text)
		if err != nil || rate != test.want {
			t.Errorf("%q: %d, %v; want %d", test.text, rate, err, test.want)
		}
		if again, err := sim.ParseRate(rate.String()); err != nil || again != rate {
			t.Errorf("%q is written as %q, which is read as %d, %v", test.text, rate, again, err)
		}
	}
	for rate, want := range map[sim.Rate]string{
		2 * sim.Percent: "+2%", -500 * sim.PPM: "-500ppm", 3: "+3ppb", 5_000_000: "+0.5%", 0: "0ppb", 15 * sim.PPM / 10: "+1.5ppm",
	} {
		Equal(t, "the rate as text", rate.String(), want)
	}
	for _, bad := range []string{"", "%", "2", "+2 percent", "51%", "-50.1%", "0.5ppb", "1e30%", "nan%", "++2%"} {
		if ppb, err := sim.ParseRate(bad); err == nil {
			t.Errorf("%q was read as %d, want an error", bad, ppb)
		}
	}
}
