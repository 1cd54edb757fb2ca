package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/storage"
)

func TestParsePoint(t *testing.T) {
	for _, test := range []struct{ text, names string }{
		{"client-1 acquired", "client-1"},
		{"client-1 failed to acquire", "client-1"},
		{"client-1 read", "client-1"},
		{"client-1 worked", "client-1"},
		{"client-1 wrote", "client-1"},
		{"client-1 extended", "client-1"},
		{"client-1 released", "client-1"},
		{"client-1 cancelled", "client-1"},
		{"client-1 was refused", "client-1"},
		{"client-1 gave up", "client-1"},
		{"client-1 finished", "client-1"},
		{"client-1 holds redis-2", "client-1 redis-2"},
		{"client-1's keys expired", "client-1"},
		{"client-1's key expired on redis-2", "client-1 redis-2"},
		{"client-1's clock jumped", "client-1"},
		{"storage applied client-1's write", "client-1"},
		{"storage refused client-1's read", "client-1"},
		{"redis-1 paused", "redis-1"},
		{"redis-1 resumed", "redis-1"},
		{"storage crashed", "storage"},
		{"redis-1 restarted", "redis-1"},
		{"redis-1 synced", "redis-1"},
		{"redis-2 was promoted", "redis-2"},
		{"client-1's request to redis-1 is in flight", "client-1 redis-1"},
		{"client-1's write request to storage arrived", "client-1 storage"},
		{"redis-3's reply to client-1 arrived", "client-1 redis-3"},
		{"redis-3's reply to client-1's acquire is in flight", "client-1 redis-3"},
		{"every reply to client-1's acquire is in flight", "client-1"},
		{"every request of client-1's acquire arrived", "client-1"},
		{"every reply to client-1 are in flight", "client-1"},
		{"client-1 acquired, 2nd time", "client-1"},
		{"client-1 acquired, 21st time", "client-1"},
		{"client-1 acquired, 3rd time", "client-1"},
		{"5s after client-1 acquired", "client-1"},
		{"0s after client-1 acquired, 11th time", "client-1"},
		{"client-1 acquired or client-2's keys expired", "client-1 client-2"},
		{"the start", ""},
		{"1s after the start or client-1 acquired", "client-1"},
		{"1m30s after client-1 released or 5ms after redis-1 crashed, 2nd time", "client-1 redis-1"},
	} {
		p, err := ParsePoint(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		same(t, "written again", p.String(), test.text)
		same(t, "names in "+test.text, strings.Join(p.Names(), " "), test.names)
		same(t, "zero", p.IsZero(), false)
		text, err := p.MarshalText()
		if err != nil || string(text) != test.text {
			t.Errorf("%q is marshalled as %q, %v", test.text, text, err)
		}
	}
	p, err := ParsePoint("  client-1 \n  acquired  ")
	if err != nil || p.String() != "client-1 acquired" {
		t.Errorf("spaces: %q, %v", p, err)
	}
	same(t, "the zero point is zero", Point{}.IsZero(), true)
}

// The error says what is wrong and what can be written.
func TestParseBadPoint(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "empty"},
		{"   ", "empty"},
		{"client-1", "who, then what"},
		{"client-1 aquired", "acquired"},
		{"client-1 is paused", "paused"},
		{"client-1's key expired", "key expired on NODE"},
		{"client-1's lock expired", "keys expired"},
		{"client-1 holds", "holds NODE"},
		{"client-1 holds redis-1 redis-2", "holds NODE"},
		{"soon after client-1 acquired", "duration"},
		{"-5s after client-1 acquired", "duration"},
		{"5 after client-1 acquired", "duration"},
		{"client-1 acquired, twice", "2nd time"},
		{"client-1 acquired, 0th time", "2nd time"},
		{"client-1 acquired, -1st time", "2nd time"},
		{"client-1 acquired, 2 time", "2nd time"},
		{"client-1 acquired, 9999999th time", "2nd time"},
		{"client-1 acquired or", "client-1 acquired or"},
		{"the start, 2nd time", "only one start"},
		{"client-1 acquired or client-2", "who, then what"},
		{"client-1 request to storage is in flight", "client-1's write request to storage"},
		{"client-1's write to storage is in flight", "client-1's write request to storage"},
		{"client-1's wait request to storage arrived", "acquire, mint, mark, read, work, check, write, extend, release"},
		{"every message arrived", "every reply to client-1's acquire"},
		{"every reply to client-1's lock arrived", "every reply to client-1's acquire"},
		{"storage applied client-1's release", ""},
		{"storage applied write", ""},
		{" is in flight", ""},
		{"arrived", ""},
	} {
		p, err := ParsePoint(test.text)
		if err == nil {
			t.Errorf("%q was read as %v", test.text, p)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: the error is %q and does not speak of %q", test.text, err, test.want)
		}
	}
}

func TestParseStepPoint(t *testing.T) {
	for text, want := range map[string]StepPoint{
		"client-1 write":              {"client-1", Write, 0},
		" client-1  acquire ":         {"client-1", Acquire, 0},
		"client-1 write, 2nd time":    {"client-1", Write, 2},
		"client-1 extend, 3rd time":   {"client-1", Extend, 3},
		"client-1 extend, 11th time":  {"client-1", Extend, 11},
		"client-1 extend, 12th time":  {"client-1", Extend, 12},
		"client-1 extend, 13th time":  {"client-1", Extend, 13},
		"client-1 extend, 21st time":  {"client-1", Extend, 21},
		"client-1 extend, 22nd time":  {"client-1", Extend, 22},
		"client-1 extend, 103rd time": {"client-1", Extend, 103},
	} {
		got, err := ParseStepPoint(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		same(t, "written again", got.String(), strings.Join(strings.Fields(text), " "))
		same(t, "zero", got.IsZero(), false)
	}
	for _, bad := range []string{"", "write", "client-1", "client-1 wrote", "client-1 writes", "client-1 write now", "client-1 write, often", "client-1 write, 0th time"} {
		if p, err := ParseStepPoint(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, p)
		}
	}
	same(t, "the zero step is zero", StepPoint{}.IsZero(), true)
}

// eventful is a world in which every point but a few is reached.
func eventful(t *testing.T) *Trace {
	use := func(ctx context.Context, p *Program, token uint64) error {
		r := libraryClient(p)
		defer r.Close()
		for _, step := range Steps() {
			_ = p.Step(step, func() error {
				switch step {
				case Acquire:
					ok, err := r.SetNX(ctx, "lock", p.g.p.name, 5*time.Second).Result()
					if err == nil && !ok {
						err = fmt.Errorf("taken")
					}
					return err
				case Read, Write:
					resp, err := p.Storage(ctx, storage.Request{Op: storage.Op(step), Object: Object, Value: "v", Token: token})
					if err == nil && resp.Refused != "" {
						err = errRefusedByStorage
					}
					return err
				case Work:
					return p.Clock().Sleep(ctx, time.Second)
				}
				return r.Get(ctx, "lock").Err()
			})
		}
		return nil
	}
	cfg := replicated(0,
		client(t, "client-1", func(ctx context.Context, p *Program) error {
			if err := use(ctx, p, 2); err != nil {
				return err
			}
			sleepUntil(p, 20*time.Second)
			return use(ctx, p, 2)
		}),
		client(t, "client-2", func(ctx context.Context, p *Program) error {
			sleepUntil(p, 2*time.Second)
			err := use(ctx, p, 1)
			sleepUntil(p, 40*time.Second)
			return err
		}),
	)
	cfg.Nodes[0].Persistence = Everysec
	cfg.Storage.Fencing = storage.Writes
	return play(t, with(cfg,
		lasting(time.Second, at(8*time.Second, stopped("client-1"))),
		lasting(time.Second, at(10*time.Second, crashed("redis-1", Kill))),
		at(12*time.Second, &Jump{"client-2", time.Second}),
		at(30*time.Second, &Promote{"redis-2"}),
	))
}

// When a point is reached: at the events that it speaks of, and at no other.
func TestPointsAreReached(t *testing.T) {
	trace := eventful(t)
	reached := func(p Point) (found []Event) {
		m := p.Matcher(trace)
		for i := range trace.Events {
			if m.Match(&trace.Events[i]) {
				found = append(found, trace.Events[i])
			}
		}
		return found
	}
	for _, test := range []struct {
		point string
		kind  Kind // of each event
		times int
	}{
		{"client-1 acquired", KindEnd, 2},
		{"client-1 acquired, 1st time", KindEnd, 1},
		{"client-1 acquired, 2nd time", KindEnd, 1},
		{"client-1 acquired, 3rd time", "", 0},
		{"client-1 failed to acquire", "", 0},
		{"client-2 failed to acquire", KindEnd, 1},
		{"client-2 acquired", "", 0},
		{"client-1 read", KindEnd, 2},
		{"client-1 worked", KindEnd, 2},
		{"client-1 wrote", KindEnd, 2},
		{"client-1 extended", KindEnd, 2},
		{"client-1 released", KindEnd, 2},
		{"client-1 finished", KindDone, 1},
		{"client-1 was refused", "", 0},
		{"client-1 gave up", "", 0},
		{"client-1 holds redis-1", KindSet, 2},
		{"client-1 holds redis-2", "", 0}, // it is copied there, which is no command of client-1
		// The replica's copies count too: only with the last one have they all.
		{"client-1's keys expired", KindExpire, 2},
		{"client-1's key expired on redis-1", KindExpire, 2},
		{"client-1's key expired on redis-2", KindExpire, 2},
		{"client-2's keys expired", "", 0},
		{"storage applied client-1's write", KindServe, 2},
		{"storage refused client-1's write", "", 0},
		{"storage refused client-2's write", KindServe, 1},
		{"storage applied client-2's write", "", 0},
		{"storage applied client-2's read", KindServe, 1},
		{"client-1 paused", KindPause, 1},
		{"client-1 resumed", KindResume, 1},
		{"redis-1 crashed", KindCrash, 1},
		{"redis-1 restarted", KindRestart, 1},
		{"redis-2 was promoted", KindPromote, 1},
		{"client-2's clock jumped", KindClock, 1},
		{"redis-1's clock jumped", "", 0},
		{"client-1's acquire request to redis-1 is in flight", KindSend, 2},
		{"client-1's acquire request to redis-1 arrived", KindDeliver, 2},
		{"redis-1's reply to client-1's acquire is in flight", KindSend, 2},
		{"redis-1's reply to client-1's acquire arrived", KindDeliver, 2},
		{"client-2's write request to storage arrived", KindDeliver, 1},
		{"client-1's request to client-2 arrived", "", 0},
		{"client-1 paused or client-1 resumed", "", 2},
	} {
		found := reached(point1(test.point))
		same(t, test.point, len(found), test.times)
		for _, ev := range found {
			if test.kind != "" {
				same(t, test.point, ev.Kind, test.kind)
			}
		}
	}
	syncs := reached(point1("redis-1 synced"))
	same(t, "redis-1 synced", len(syncs), len(events(trace, KindSync, "redis-1")))
	if len(syncs) == 0 {
		t.Error("redis-1 never synced")
	}
}

// The point of a fault is reached as the run goes on; a delay counts from there.
func TestPointsStrikeInTime(t *testing.T) {
	cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		r := p.Redis(0)
		for range 3 {
			if err := p.Step(Acquire, func() error { return r.Set(ctx, "k", now(p).String(), time.Second).Err() }); err != nil {
				return err
			}
			sleepUntil(p, now(p).Truncate(10*time.Second)+10*time.Second)
		}
		return nil
	}))
	for _, test := range []struct {
		point string
		at    time.Duration
	}{
		{"client-1 acquired", 6 * hop},
		{"client-1 acquired, 3rd time", 20*time.Second + 2*hop},
		{"5s after client-1 acquired", 5*time.Second + 6*hop},
		{"5s after client-1 acquired, 2nd time", 15*time.Second + 2*hop},
		{"client-1's keys expired", time.Second + 5*hop},
		{"client-1's keys expired, 2nd time", 11*time.Second + hop},
		{"client-1's request to redis-1 is in flight", 4 * hop},
		{"client-1's acquire request to redis-1 arrived, 2nd time", 10*time.Second + hop},
		{"redis-1's reply to client-1 is in flight", 5 * hop},
		{"client-1 failed to acquire or client-1's keys expired", time.Second + 5*hop},
		{"client-1 finished or client-1 acquired, 2nd time", 10*time.Second + 2*hop},
	} {
		trace := play(t, with(cfg, when(test.point, &Jump{"redis-1", time.Nanosecond})))
		struck(t, trace)
		about(t, test.point, first(t, trace, KindStrike, "").At, test.at)
	}
	trace := play(t, with(cfg, when("client-1 extended", stopped("redis-1"))))
	if idle := trace.Faults[0].Idle; !strings.Contains(idle, "when client-1 extended") {
		t.Errorf("a fault whose moment never came is idle because %q", idle)
	}
}

// "every reply to …" is reached when all nodes of the lock have answered one
// section, and none of the answers has arrived.
func TestEveryTransit(t *testing.T) {
	trace := &Trace{Locks: []LockInfo{{Slots: []SlotInfo{{Node: "redis-1"}, {Node: "redis-2"}}}}}
	send := func(node string, section int) Event {
		return Event{Kind: KindSend, Process: node, Peer: "client-1", Reply: true, Section: section, Step: Acquire}
	}
	arrive := func(node string, section int) Event {
		return Event{Kind: KindDeliver, Process: "client-1", Peer: node, Reply: true, Section: section, Step: Acquire}
	}
	for _, test := range []struct {
		name   string
		point  string
		events []Event
		want   []bool
	}{
		{"in flight", "every reply to client-1's acquire is in flight", []Event{send("redis-1", 1), send("redis-2", 1)}, []bool{false, true}},
		{"one arrived before", "every reply to client-1's acquire is in flight", []Event{send("redis-1", 1), arrive("redis-1", 1), send("redis-2", 1)}, []bool{false, false, false}},
		{"another section", "every reply to client-1's acquire is in flight", []Event{send("redis-1", 1), send("redis-2", 2), send("redis-1", 2)}, []bool{false, false, true}},
		{"another node", "every reply to client-1's acquire is in flight", []Event{send("redis-1", 1), send("redis-3", 1)}, []bool{false, false}},
		{"arrived", "every reply to client-1's acquire arrived", []Event{send("redis-1", 1), send("redis-2", 1), arrive("redis-2", 1), arrive("redis-1", 1)}, []bool{false, false, false, true}},
	} {
		m := point1(test.point).Matcher(trace)
		var got []bool
		for i := range test.events {
			got = append(got, m.Match(&test.events[i]))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Whatever is written, parsing does not panic; what was read is written as it can
// be read again.
func FuzzParsePoint(f *testing.F) {
	for _, s := range []string{
		"client-1 acquired", "5s after client-1's keys expired, 2nd time or storage applied client-2's write",
		"every reply to client-1's acquire is in flight", "redis-1's reply to client-1's write arrived", "client-1 holds redis-1",
		"'s is in flight", "every arrived", " or ", ", 1st time", "1h after ", "every is in flight", "x arrived",
		"'s reply to 0", "client-1 cancelled, 22nd time",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParsePoint(s); err == nil {
			again, err := ParsePoint(p.String())
			if err != nil || again.String() != p.String() || !slices.Equal(again.Names(), p.Names()) {
				t.Errorf("%q was read as %q, and that as %q, %v", s, p, again, err)
			}
			p.Matcher(&Trace{}).Match(&Event{Kind: KindSend, Clocks: &Clocks{}})
		}
		if p, err := ParseStepPoint(s); err == nil {
			again, err := ParseStepPoint(p.String())
			if err != nil || again.String() != p.String() {
				t.Errorf("%q was read as %q, and that as %q, %v", s, p, again, err)
			}
		}
		if m, err := ParseMessage(s); err == nil {
			again, err := ParseMessage(m.String())
			if err != nil || again != m {
				t.Errorf("%q was read as %+v, and that as %+v, %v", s, m, again, err)
			}
		}
	})
}

// Some things only some processes can do.
func TestPointFits(t *testing.T) {
	role := func(name string) (Role, bool) {
		switch {
		case name == StorageName:
			return RoleStorage, true
		case strings.HasPrefix(name, "client-"):
			return RoleClient, true
		case strings.HasPrefix(name, "redis-"):
			return RoleNode, true
		}
		return "", false
	}
	for text, fits := range map[string]bool{
		"client-1 wrote":                                true,
		"redis-1 wrote":                                 false,
		"stranger wrote":                                true, // that there is none is another error
		"redis-1 synced":                                true,
		"client-1 synced":                               false,
		"storage paused":                                true,
		"storage restarted":                             true,
		"client-1 restarted":                            false,
		"client-1 holds redis-1":                        true,
		"client-1 holds client-2":                       false,
		"client-1's keys expired":                       true,
		"redis-1's keys expired":                        false,
		"client-1's request to storage arrived":         true,
		"client-1's request to client-2 arrived":        false,
		"client-1 wrote or redis-1 wrote":               false,
		"redis-1's reply to client-1 is in flight":      true,
		"client-1's reply to redis-1 is in flight":      false,
		"5s after redis-1's clock jumped, 2nd time":     true,
		"storage applied redis-1's write":               false,
		"every reply to redis-1's acquire is in flight": false,
	} {
		if err := point1(text).Fits(role); (err == nil) != fits {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A key on a node that is down does not keep a client's keys from having
// expired; nobody can see it.
func TestKeysOnNodesThatAreDown(t *testing.T) {
	owner := &Actor{Client: "client-1", Section: 1}
	set := func(node string) Event {
		return Event{Kind: KindSet, Process: node, Key: "k", Owner: owner, TTL: time.Second}
	}
	expire := func(node string) Event { return Event{Kind: KindExpire, Process: node, Key: "k", Owner: owner} }
	for name, test := range map[string]struct {
		between []Event
		reached bool
	}{
		"the other node is up":          {nil, false},
		"it is down":                    {[]Event{{Kind: KindCrash, Process: "b"}}, true},
		"it is back, and so is the key": {[]Event{{Kind: KindCrash, Process: "b"}, {Kind: KindRestart, Process: "b"}}, false},
		"its key has expired":           {[]Event{expire("b")}, true},
		"it has set one that stays":     {[]Event{{Kind: KindSet, Process: "b", Key: "counter", Owner: owner}, expire("b")}, true},
		"it got its expiry later":       {[]Event{expire("b"), {Kind: KindTouch, Process: "b", Key: "late", Owner: owner, TTL: time.Second}}, false},
	} {
		m := point1("client-1's keys expired").Matcher(&Trace{})
		last := false
		for _, ev := range slices.Concat([]Event{set("a"), set("b")}, test.between, []Event{expire("a")}) {
			last = m.Match(&ev)
		}
		if last != test.reached {
			t.Errorf("%s: reached %v", name, last)
		}
	}
}
