package sim

import (
	"context"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/trace"
)

// arrival is when the first command of a client that starts with the story is
// served: after a dial, HELLO, and the command's way to the node.
const arrival = 5 * hop

// A key that is set for ten seconds lives that long by the wall clock of its
// node.
func TestNodeClockDecidesHowLongAKeyLives(t *testing.T) {
	cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		if err := p.Redis(0).Set(ctx, "k", "v", 10*time.Second).Err(); err != nil {
			return err
		}
		return p.Clock().Sleep(ctx, 30*time.Second)
	}))
	for _, test := range []struct {
		name    string
		faults  []Fault
		expires time.Duration
	}{
		{"no fault", nil, arrival + 10*time.Second},
		{"back by 4s", []Fault{at(3*time.Second, &Jump{"redis-1", -4 * time.Second})}, arrival + 14*time.Second},
		{"forward by 4s", []Fault{at(3*time.Second, &Jump{"redis-1", 4 * time.Second})}, arrival + 6*time.Second},
		{"forward beyond its end", []Fault{at(3*time.Second, &Jump{"redis-1", 31 * time.Second})}, 3 * time.Second},
		{"forward and back", []Fault{
			at(2*time.Second, &Jump{"redis-1", 5 * time.Second}),
			at(3*time.Second, &Jump{"redis-1", -5 * time.Second}),
		}, arrival + 10*time.Second},
		{"forward when it is set", []Fault{when("client-1 holds redis-1", &Jump{"redis-1", 9 * time.Second})}, arrival + time.Second},
		{"of another process", []Fault{at(3*time.Second, &Jump{"client-1", time.Hour})}, arrival + 10*time.Second},
		// 10 s / 1.02 and 10 s / 0.9995, rounded up.
		{"fast by 2%", []Fault{at(0, &Drift{"redis-1", 2 * Percent})}, arrival + 9_803_921_569},
		{"slow by 500ppm", []Fault{at(0, &Drift{"redis-1", -500 * PPM})}, arrival + 10_005_002_502},
		{"fast twice", []Fault{at(0, &Drift{"redis-1", 10 * Percent}), at(0, &Drift{"redis-1", 15 * Percent})}, arrival + 8*time.Second},
		// 3 s at +50% are 4.5 s, which leaves 5.5 s at the right rate.
		{"fast for three seconds", []Fault{lasting(3*time.Second, when("client-1 holds redis-1", &Drift{"redis-1", 50 * Percent}))}, arrival + 8500*time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := play(t, with(cfg, test.faults...))
			struck(t, tr)
			about(t, "the key was set", only(t, tr, trace.KindSet, "redis-1").At, arrival)
			about(t, "the key expired", only(t, tr, trace.KindExpire, "redis-1").At, test.expires)
		})
	}
}

// What a client sees of a node's clock: what is left of a key's life, TIME, and
// an expiry that it gives as a time of day.
func TestClientSeesTheNodeClock(t *testing.T) {
	type sight struct {
		left   time.Duration
		ahead  time.Duration // of the true time of day, when the command was served
		exists int64         // a key that ends ten seconds from now by the client's time of day
	}
	for _, test := range []struct {
		name string
		by   time.Duration
		want sight
	}{
		{"no jump", 0, sight{60 * time.Second, 0, 1}},
		{"forward", 31 * time.Second, sight{29 * time.Second, 31 * time.Second, 0}},
		{"back", -31 * time.Second, sight{91 * time.Second, -31 * time.Second, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got sight
			cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				r := p.Redis(0)
				if err := r.Set(ctx, "k", "v", 60*time.Second).Err(); err != nil {
					return err
				}
				sleepUntil(p, 2*time.Second)
				left, err := r.PTTL(ctx, "k").Result()
				if err != nil {
					return err
				}
				// The PTTL was served a hop before its answer came, and the SET at
				// its own moment; both were served that much after the start.
				got.left = (left + now(p) - hop - arrival).Round(10 * time.Millisecond)
				told, err := r.Time(ctx).Result()
				if err != nil {
					return err
				}
				got.ahead = told.Sub(time.Now().Add(-hop)).Round(time.Millisecond)
				if err := r.Do(ctx, "SET", "until", "v", "PXAT", time.Now().Add(10*time.Second).UnixMilli()).Err(); err != nil {
					return err
				}
				got.exists, err = r.Exists(ctx, "until").Result()
				return err
			}))
			if test.by != 0 {
				cfg = with(cfg, at(time.Second, &Jump{"redis-1", test.by}))
			}
			play(t, cfg)
			same(t, "the client sees", got, test.want)
		})
	}
}

// A client's own clocks, and the true time that a library sees.
func TestClientClocks(t *testing.T) {
	type clocks struct {
		slept                 time.Duration // in true time, of a sleep of ten seconds
		wall, monotonic, true time.Duration // that passed meanwhile on each
	}
	for _, test := range []struct {
		name  string
		fault []Fault
		want  clocks
	}{
		{"no fault", nil, clocks{10 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		{"forward", []Fault{at(3*time.Second, &Jump{"client-1", time.Hour})}, clocks{10 * time.Second, time.Hour + 10*time.Second, 10 * time.Second, 10 * time.Second}},
		{"back", []Fault{at(3*time.Second, &Jump{"client-1", -time.Minute})}, clocks{10 * time.Second, -50 * time.Second, 10 * time.Second, 10 * time.Second}},
		{"of the node", []Fault{at(3*time.Second, &Jump{"redis-1", time.Hour})}, clocks{10 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		{"fast by 25%", []Fault{at(0, &Drift{"client-1", 25 * Percent})}, clocks{8 * time.Second, 10 * time.Second, 10 * time.Second, 8 * time.Second}},
		{"slow by 50%", []Fault{at(0, &Drift{"client-1", -50 * Percent})}, clocks{20 * time.Second, 10 * time.Second, 10 * time.Second, 20 * time.Second}},
		{"slow by 50% for four seconds", []Fault{lasting(4*time.Second, at(0, &Drift{"client-1", -50 * Percent}))}, clocks{12 * time.Second, 10 * time.Second, 10 * time.Second, 12 * time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got clocks
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				c := p.Clock()
				began, wall, monotonic, library := now(p), c.Now(), c.Read(fakeclock.Monotonic), time.Now()
				err := c.Sleep(ctx, 10*time.Second)
				got = clocks{
					slept:     (now(p) - began).Round(time.Microsecond),
					wall:      c.Now().Sub(wall).Round(time.Microsecond),
					monotonic: c.Read(fakeclock.Monotonic).Sub(monotonic).Round(time.Microsecond),
					true:      time.Since(library).Round(time.Microsecond),
				}
				return err
			})), test.fault...))
			struck(t, tr)
			same(t, "clocks", got, test.want)
		})
	}
}

// The trace tells what the clocks read after each change.
func TestTraceTellsClockChanges(t *testing.T) {
	tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		return p.Clock().Sleep(ctx, 10*time.Second)
	})),
		at(time.Second, &Jump{"client-1", time.Minute}),
		lasting(2*time.Second, at(3*time.Second, &Drift{"client-1", 10 * Percent})),
	))
	changes := events(tr, trace.KindClock, "client-1")
	if len(changes) != 4 {
		t.Fatalf("%d changes\n%s", len(changes), tell(tr))
	}
	start := changes[0]
	for i, want := range []struct {
		why             string
		at              time.Duration
		wall, monotonic time.Duration // since the start, by that clock
		rate            int64
	}{
		{"", 0, 0, 0, 0},
		{"jump", time.Second, 61 * time.Second, time.Second, 0},
		{"drift", 3 * time.Second, 63 * time.Second, 3 * time.Second, 100_000_000},
		{"drift", 5 * time.Second, 65200 * time.Millisecond, 5200 * time.Millisecond, 0},
	} {
		ev := changes[i]
		same(t, "why", ev.Clocks.Why, trace.ClockChange(want.why))
		same(t, "rate", ev.Clocks.RatePPB, want.rate)
		if i > 0 {
			about(t, want.why, ev.At, want.at)
		}
		about(t, "the wall clock", time.Duration(ev.Clocks.Wall-start.Clocks.Wall), want.wall)
		about(t, "the monotonic clock", time.Duration(ev.Clocks.Monotonic-start.Clocks.Monotonic), want.monotonic)
	}
}

func TestParseRate(t *testing.T) {
	for _, test := range []struct {
		text string
		want Rate
	}{
		{"+2%", 20_000_000}, {"2%", 20_000_000}, {"-500ppm", -500_000}, {"+3ppb", 3}, {"0.5%", 5_000_000},
		{" -0.001 ppm ", -1}, {"+0%", 0}, {"50%", 500_000_000}, {"-50%", -500_000_000},
	} {
		rate, err := ParseRate(test.text)
		if err != nil || rate != test.want {
			t.Errorf("%q: %d, %v; want %d", test.text, rate, err, test.want)
		}
		if again, err := ParseRate(rate.String()); err != nil || again != rate {
			t.Errorf("%q is written as %q, which is read as %d, %v", test.text, rate, again, err)
		}
	}
	for rate, want := range map[Rate]string{
		2 * Percent: "+2%", -500 * PPM: "-500ppm", 3: "+3ppb", 5_000_000: "+0.5%", 0: "0ppb", 15 * PPM / 10: "+1.5ppm",
	} {
		same(t, "the rate in words", rate.String(), want)
	}
	for _, bad := range []string{"", "%", "2", "+2 percent", "51%", "-50.1%", "0.5ppb", "1e30%", "nan%", "++2%"} {
		if ppb, err := ParseRate(bad); err == nil {
			t.Errorf("%q was read as %d", bad, ppb)
		}
	}
}
