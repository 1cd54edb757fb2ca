package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Two clients, each of which sends one command at two seconds and waits half a
// second for the answer. A third one looks at what came of it.
func TestPartition(t *testing.T) {
	type outcome struct {
		timedOut bool
		// set is when client-1's key was set.
		set time.Duration
	}
	const sent = 2 * time.Second
	cut := func(process string, from []string, d Direction) []Fault {
		return []Fault{lasting(3*time.Second, at(time.Second, &Partition{process, from, d}))}
	}
	const healed = 4*time.Second + hop // what was parked needs a hop more
	for _, test := range []struct {
		name   string
		faults []Fault
		want   outcome
	}{
		{"none", nil, outcome{false, sent + hop}},
		{"both ways", cut("client-1", []string{"redis-1"}, ""), outcome{true, healed}},
		{"both ways, said the other way round", cut("redis-1", []string{"client-1"}, Both), outcome{true, healed}},
		// The request is parked.
		{"to the node", cut("client-1", []string{"redis-1"}, To), outcome{true, healed}},
		// The request arrives, its answer is parked.
		{"from the node", cut("client-1", []string{"redis-1"}, From), outcome{true, sent + hop}},
		{"to the client", cut("redis-1", []string{"client-1"}, To), outcome{true, sent + hop}},
		{"from the client", cut("redis-1", []string{"client-1"}, From), outcome{true, healed}},
		{"of another client", cut("redis-1", []string{"client-2"}, Both), outcome{false, sent + hop}},
		{"from the storage", cut("client-1", []string{trace.StorageName}, Both), outcome{false, sent + hop}},
		{"two at once, the second for longer", append(cut("client-1", []string{"redis-1"}, To),
			lasting(5*time.Second, at(time.Second, &Partition{"client-1", []string{"redis-1"}, To}))), outcome{true, 6*time.Second + hop}},
		{"that heals in time", []Fault{lasting(200*time.Millisecond, at(sent-hop, &Partition{"client-1", []string{"redis-1"}, ""}))}, outcome{false, sent + 200*time.Millisecond}},
		{"at a point", []Fault{until("1s after client-1's request to redis-1 is in flight", when("client-1's request to redis-1 is in flight", &Partition{"client-1", []string{"redis-1"}, ""}))},
			outcome{true, sent + time.Second + hop}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got outcome
			tr := play(t, with(story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					r := p.Redis(0)
					if err := r.Ping(ctx).Err(); err != nil {
						return err
					}
					sleepUntil(p, sent)
					err := r.Set(within(ctx, 500*time.Millisecond), "k", "v", 0).Err()
					got.timedOut = errors.Is(err, os.ErrDeadlineExceeded)
					if err != nil && !got.timedOut {
						return err
					}
					return nil
				}),
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					// It lives until every message has arrived.
					return p.Clock().Sleep(ctx, 20*time.Second)
				}),
			), test.faults...))
			struck(t, tr)
			got.set = only(t, tr, trace.KindSet, "redis-1").At
			same(t, "timed out", got.timedOut, test.want.timedOut)
			about(t, "the key was set", got.set, test.want.set)
			if got.timedOut {
				about(t, "the timeout", only(t, tr, trace.KindTimeout, "client-1").At, sent+500*time.Millisecond)
			}
		})
	}
}

// A dial across a partition has no answer: it costs the time that its caller
// allows, and ends when the partition does if that is sooner.
func TestDialAcrossAPartition(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []Fault
		fails  bool
		at     time.Duration
	}{
		{"none", nil, false, time.Second + 2*hop},
		{"for good", []Fault{at(0, &Partition{"client-1", []string{"redis-1"}, ""})}, true, 4 * time.Second},
		{"that heals in time", []Fault{lasting(2*time.Second, at(0, &Partition{"client-1", []string{"redis-1"}, ""}))}, false, 2*time.Second + 2*hop},
		{"of the answers", []Fault{lasting(2*time.Second, at(0, &Partition{"client-1", []string{"redis-1"}, From}))}, false, 2*time.Second + hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			var failed error
			var ended time.Duration
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				sleepUntil(p, time.Second)
				_, failed = dialTo(within(ctx, 3*time.Second), p, 0)
				ended = now(p)
				return nil
			})), test.faults...))
			same(t, "the dial failed", failed != nil, test.fails)
			if test.fails && !errors.Is(failed, context.DeadlineExceeded) {
				t.Errorf("the dial failed with %v", failed)
			}
			about(t, "the dial ended", ended, test.at)
			same(t, "refused dials", len(events(tr, trace.KindRefuse, "client-1")), len(map[bool][]int{true: {1}}[test.fails]))
		})
	}
}

// A request whose client has timed out and closed the connection may still
// arrive, and take effect long after.
func TestTimingOutRecallsNothing(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []Fault
	}{
		{"delay", []Fault{lasting(1500*time.Millisecond, at(time.Second, &Delay{"client-1", "redis-1", 3 * time.Second, To}))}},
		{"hold", []Fault{lasting(3*time.Second, at(time.Second, &Hold{held("client-1's request to redis-1")}))}},
		{"partition", []Fault{lasting(4*time.Second, at(time.Second, &Partition{"client-1", []string{"redis-1"}, To}))}},
		{"pause of the node", []Fault{lasting(4*time.Second+hop, at(time.Second, stopped("redis-1")))}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after string
			tr := play(t, with(story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					r := libraryClient(p)
					if err := r.Set(ctx, "k", "old", 0).Err(); err != nil {
						return err
					}
					sleepUntil(p, 2*time.Second)
					if err := r.Set(within(ctx, 100*time.Millisecond), "k", "new", 0).Err(); !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("SET ended with %v", err)
					}
					return r.Close()
				}),
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					conn, err := dialTo(ctx, p, 0)
					if err != nil {
						return err
					}
					sleepUntil(p, 4*time.Second)
					if test.name != "pause of the node" {
						if before, err = ask(conn, "GET k"); err != nil {
							return err
						}
					}
					sleepUntil(p, 7*time.Second)
					after, err = ask(conn, "GET k")
					return err
				}),
			), test.faults...))
			struck(t, tr)
			closed := first(t, tr, trace.KindClose, "client-1")
			about(t, "the client closed", closed.At, 2*time.Second+100*time.Millisecond)
			set := events(tr, trace.KindSet, "redis-1")
			if len(set) != 2 {
				t.Fatalf("%d SETs took effect\n%s", len(set), tell(tr))
			}
			about(t, "the late SET", set[1].At, 5*time.Second+hop)
			if test.name != "pause of the node" {
				same(t, "before", before, "$3\r\nold\r\n")
			}
			same(t, "after", after, "$3\r\nnew\r\n")
		})
	}
}

// A delay adds to each message of one link that is sent while it lasts.
func TestDelay(t *testing.T) {
	const by = 500 * time.Millisecond
	slow := func(process, to string, d Direction) []Fault {
		return []Fault{lasting(time.Second, at(time.Second, &Delay{process, to, by, d}))}
	}
	for _, test := range []struct {
		name   string
		faults []Fault
		during time.Duration // how long a command at 1.2s takes
	}{
		{"none", nil, 2 * hop},
		{"both ways", slow("client-1", "redis-1", ""), 2*hop + 2*by},
		{"to the node", slow("client-1", "redis-1", To), 2*hop + by},
		{"from the node", slow("client-1", "redis-1", From), 2*hop + by},
		{"said the other way round", slow("redis-1", "client-1", From), 2*hop + by},
		{"twice", slices.Concat(slow("client-1", "redis-1", To), slow("client-1", "redis-1", To)), 2*hop + 2*by},
		{"of another client", slow("client-2", "redis-1", ""), 2 * hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			var during, after time.Duration
			tr := play(t, with(story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					r := p.Redis(0)
					err := r.Ping(ctx).Err()
					sleepUntil(p, 1200*time.Millisecond)
					began := now(p)
					err = errors.Join(err, r.Set(ctx, "k", "v", 0).Err())
					during = now(p) - began
					sleepUntil(p, 4*time.Second)
					began = now(p)
					err = errors.Join(err, r.Set(ctx, "k", "v", 0).Err())
					after = now(p) - began
					return err
				}),
				client(t, "client-2", func(context.Context, *Program) error { return nil }),
			), test.faults...))
			struck(t, tr)
			about(t, "the command", during, test.during)
			about(t, "a later command", after, 2*hop)
		})
	}
}

// On a connection nothing overtakes what was sent before; another connection
// does.
func TestOrderOnAConnection(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []Fault
		want   string // the values of k, in order
	}{
		{"no fault", nil, "first second third"},
		{"delay", []Fault{lasting(500*time.Millisecond, at(time.Second-hop, &Delay{"client-1", "redis-1", 5 * time.Second, To}))}, "third first second"},
		{"hold", []Fault{lasting(5*time.Second, at(0, &Hold{held("client-1's request to redis-1")}))}, "third first second"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
				one, err := dialTo(ctx, p, 0)
				if err != nil {
					return err
				}
				other, err := dialTo(ctx, p, 0)
				if err != nil {
					return err
				}
				sleepUntil(p, time.Second)
				_, err = one.Write([]byte("SET k first\r\n"))
				sleepUntil(p, 2*time.Second)
				_, err2 := one.Write([]byte("SET k second\r\n"))
				sleepUntil(p, 3*time.Second)
				_, err3 := other.Write([]byte("SET k third\r\n"))
				return errors.Join(err, err2, err3, p.Clock().Sleep(ctx, 10*time.Second))
			})), test.faults...))
			struck(t, tr)
			var values []string
			for _, ev := range events(tr, trace.KindSet, "redis-1") {
				values = append(values, ev.Value)
			}
			same(t, "the values", strings.Join(values, " "), test.want)
		})
	}
}

// A held reply waits in a buffer: the command was served, its client does not
// know.
func TestHoldAReply(t *testing.T) {
	var err error
	var answered time.Duration
	cfg := story(
		client(t, "client-1", func(ctx context.Context, p *Program) error {
			r := p.Redis(0)
			if err := r.Ping(ctx).Err(); err != nil {
				return err
			}
			sleepUntil(p, time.Second)
			err = p.Step(trace.Acquire, func() error { return r.Set(within(ctx, 3*time.Second), "k", "v", 0).Err() })
			answered = now(p)
			return nil
		}),
		client(t, "client-2", func(ctx context.Context, p *Program) error {
			sleepUntil(p, 2*time.Second)
			r := p.Redis(0)
			defer r.Close()
			value, err := r.Get(ctx, "k").Result()
			same(t, "another client sees", value, "v")
			return errors.Join(err, p.Clock().Sleep(ctx, 5*time.Second))
		}),
	)
	hold := &Hold{held("redis-1's reply to client-1's acquire")}
	t.Run("not held", func(t *testing.T) {
		play(t, cfg)
		same(t, "the error", err, nil)
		about(t, "the answer", answered, time.Second+2*hop)
	})
	t.Run("and released in time", func(t *testing.T) {
		tr := play(t, with(cfg, until("client-2's request to redis-1 arrived", at(0, hold))))
		struck(t, tr)
		same(t, "the error", err, nil)
		released := only(t, tr, trace.KindLift, "")
		about(t, "the release", released.At, 2*time.Second+5*hop)
		about(t, "the answer", answered, released.At+hop)
		held := only(t, tr, trace.KindHold, "redis-1")
		about(t, "it was held", held.At, time.Second+hop)
		same(t, "its step", held.Step, trace.Acquire)
	})
	t.Run("for good", func(t *testing.T) {
		tr := play(t, with(cfg, at(0, hold)))
		struck(t, tr)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("SET ended with %v", err)
		}
		about(t, "the error", answered, 4*time.Second)
	})
	t.Run("of a step that never comes", func(t *testing.T) {
		tr := play(t, with(cfg, at(0, &Hold{held("redis-1's reply to client-1's extend")})))
		if tr.Faults[0].Idle == "" {
			t.Error("the fault is said to have acted")
		}
		about(t, "the answer", answered, time.Second+2*hop)
	})
}

// Only the first message of a kind is held, from the fault's moment on.
func TestHoldOneRequestToTheStorage(t *testing.T) {
	write := func(ctx context.Context, p *Program, value string) error {
		return p.Step(trace.Write, func() error {
			_, err := p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.Object, Value: value})
			return err
		})
	}
	cfg := story(
		client(t, "client-1", func(ctx context.Context, p *Program) error {
			early := write(ctx, p, "early")
			sleepUntil(p, 2*time.Second)
			// It gives up after a second, and the write still arrives.
			late := write(within(ctx, time.Second), p, "late")
			return errors.Join(early, ignore(late, errGaveUp))
		}),
		client(t, "client-2", func(ctx context.Context, p *Program) error {
			sleepUntil(p, 4*time.Second)
			return write(ctx, p, "newer")
		}),
	)
	values := func(tr *trace.Trace) string {
		var values []string
		for _, ev := range events(tr, trace.KindServe, trace.StorageName) {
			values = append(values, ev.Value)
		}
		return strings.Join(values, " ")
	}
	t.Run("not held", func(t *testing.T) {
		same(t, "the storage served", values(play(t, cfg)), "early late newer")
	})
	t.Run("held", func(t *testing.T) {
		tr := play(t, with(cfg, until("storage applied client-2's write", at(time.Second, &Hold{held("client-1's write request to storage")}))))
		struck(t, tr)
		same(t, "the storage served", values(tr), "early newer late")
		same(t, "the object at the end", only(t, tr, trace.KindObject, trace.StorageName).Value, "late")
		about(t, "client-1 gave up", only(t, tr, trace.KindClose, "client-1").At, 3*time.Second)
	})
}

// A hold can be of a later message: they are counted from the fault's moment on,
// those of other kinds not, and those that another fault holds too.
func TestHoldTheNthMessage(t *testing.T) {
	// Five writes, a second apart, and a read between any two; each gives up at
	// once.
	cfg := story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		for i := range 5 {
			sleepUntil(p, time.Duration(i+1)*time.Second)
			for _, op := range []storage.Op{storage.Read, storage.Write} {
				_ = p.Step(trace.Step(op), func() error {
					_, err := p.Storage(within(ctx, 100*time.Millisecond), storage.Request{Op: op, Object: trace.Object, Value: fmt.Sprint(i + 1)})
					return err
				})
			}
		}
		return nil
	}))
	writes := trace.Message{Client: "client-1", Peer: trace.StorageName, Step: trace.Write}
	hold := func(m trace.Message, nth int) *Hold { return &Hold{trace.NthMessage{Message: m, Nth: nth}} }
	for _, test := range []struct {
		faults []Fault
		held   string
	}{
		{[]Fault{at(0, hold(writes, 0))}, "1"},
		{[]Fault{at(0, hold(writes, 1))}, "1"},
		{[]Fault{at(0, hold(writes, 3))}, "3"},
		{[]Fault{at(0, &Hold{held("client-1's  write request to storage, 3rd time")})}, "3"},
		{[]Fault{at(2500*time.Millisecond, hold(writes, 2))}, "4"},
		{[]Fault{when("client-1's write request to storage is in flight, 2nd time", hold(writes, 1))}, "3"},
		{[]Fault{before("client-1 write, 2nd time", hold(writes, 1))}, "2"},
		{[]Fault{at(0, hold(trace.Message{Client: "client-1", Peer: trace.StorageName}, 4))}, "2"}, // reads count too
		{[]Fault{at(0, hold(writes, 2)), at(0, hold(writes, 4))}, "2 4"},
		{[]Fault{at(0, hold(writes, 2)), at(0, hold(writes, 2))}, "2 3"},
		{[]Fault{at(0, hold(writes, 2)), at(1500*time.Millisecond, hold(writes, 2))}, "2 3"},
	} {
		tr := play(t, with(cfg, test.faults...))
		struck(t, tr)
		var held []string
		for _, ev := range events(tr, trace.KindHold, "client-1") {
			held = append(held, fmt.Sprint(int((ev.At+hop)/time.Second)))
		}
		same(t, fmt.Sprint(test.faults[0].Text, ": held in the seconds"), strings.Join(held, " "), test.held)
	}
	tr := play(t, with(cfg, at(0, hold(writes, 6))))
	same(t, "a sixth", tr.Faults[0].Idle, "what it waits for never happened")
}

// ignore drops an error that is expected.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// A reset cuts the connections of a pair of processes at once; what was under
// way is lost. New connections work.
func TestReset(t *testing.T) {
	type outcome struct {
		err   string
		ended time.Duration
		sets  int
	}
	for _, test := range []struct {
		name   string
		faults []Fault
		want   outcome
	}{
		{"none", nil, outcome{"", time.Second + 2*hop, 2}},
		{"before the request arrives", []Fault{at(time.Second+hop/2, &Reset{"client-1", "redis-1"})}, outcome{"reset", time.Second + hop/2, 1}},
		{"before the reply arrives", []Fault{at(time.Second+hop+hop/2, &Reset{"redis-1", "client-1"})}, outcome{"reset", time.Second + hop + hop/2, 2}},
		{"at a point", []Fault{when("client-1's write request to redis-1 is in flight", &Reset{"client-1", "redis-1"})}, outcome{"reset", time.Second, 1}},
		// go-redis looks at a connection before it uses it, and opens another.
		{"while idle", []Fault{at(500*time.Millisecond, &Reset{"client-1", "redis-1"})}, outcome{"", time.Second + 6*hop, 2}},
		{"of another client", []Fault{at(time.Second+hop/2, &Reset{"client-2", "redis-1"})}, outcome{"", time.Second + 2*hop, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got outcome
			tr := play(t, with(story(
				client(t, "client-1", func(ctx context.Context, p *Program) error {
					r := libraryClient(p)
					defer r.Close()
					if err := r.Ping(ctx).Err(); err != nil {
						return err
					}
					sleepUntil(p, time.Second)
					err := p.Step(trace.Write, func() error { return r.Set(ctx, "first", "v", 0).Err() })
					if errors.Is(err, syscall.ECONNRESET) {
						got.err, err = "reset", nil
					}
					got.ended = now(p)
					sleepUntil(p, 2*time.Second)
					return errors.Join(err, r.Set(ctx, "second", "v", 0).Err())
				}),
				client(t, "client-2", func(ctx context.Context, p *Program) error {
					err := p.Redis(0).BLPop(ctx, 5*time.Second, "list").Err()
					return ignore(ignore(err, redis.Nil), syscall.ECONNRESET)
				}),
			), test.faults...))
			struck(t, tr)
			got.sets = len(events(tr, trace.KindSet, "redis-1"))
			same(t, "error", got.err, test.want.err)
			same(t, "keys set", got.sets, test.want.sets)
			about(t, "the end", got.ended, test.want.ended)
			if got.err != "" {
				only(t, tr, trace.KindReset, "client-1")
				only(t, tr, trace.KindReset, "redis-1")
				lost := len(events(tr, trace.KindLose, "client-1")) + len(events(tr, trace.KindLose, "redis-1"))
				same(t, "messages lost", lost, 1)
			}
		})
	}
}

// A reset reaches the connection to the storage too.
func TestResetOfTheStorage(t *testing.T) {
	var first, second error
	tr := play(t, with(story(client(t, "client-1", func(ctx context.Context, p *Program) error {
		write := storage.Request{Op: storage.Write, Object: trace.Object, Value: "v"}
		_, first = p.Storage(ctx, write)
		_, second = p.Storage(ctx, write)
		return nil
	})), when("client-1's request to storage is in flight, 1st time", &Reset{"client-1", trace.StorageName})))
	if !errors.Is(first, syscall.ECONNRESET) || second != nil {
		t.Errorf("the first write ended with %v, the second with %v", first, second)
	}
	same(t, "version", only(t, tr, trace.KindServe, trace.StorageName).Version, 1)
}

// Latencies are drawn from a stream of each link's own: a message more on one
// link changes nothing on another.
func TestLatenciesAreIndependent(t *testing.T) {
	arrivals := func(busy bool) (latencies []time.Duration) {
		cfg := story(
			client(t, "client-1", func(ctx context.Context, p *Program) error {
				r := p.Redis(0)
				for range 20 {
					if err := r.Ping(ctx).Err(); err != nil {
						return err
					}
				}
				return nil
			}),
			client(t, "client-2", func(ctx context.Context, p *Program) error {
				if !busy {
					return nil
				}
				return p.Redis(0).Ping(ctx).Err()
			}),
		)
		cfg.Network = Network{Min: 500 * time.Microsecond, Max: 3 * time.Millisecond}
		sent := map[[2]int]time.Duration{}
		for _, ev := range play(t, cfg).Events {
			id := [2]int{ev.Msg, map[bool]int{true: 1}[ev.Reply]}
			switch {
			case ev.Kind == trace.KindSend && (ev.Process == "client-1" || ev.Peer == "client-1"):
				sent[id] = ev.At
			case ev.Kind == trace.KindDeliver && (ev.Process == "client-1" || ev.Peer == "client-1"):
				latencies = append(latencies, (ev.At - sent[id]).Round(time.Microsecond))
			}
		}
		return latencies
	}
	alone, busy := arrivals(false), arrivals(true)
	if len(alone) != 42 || !slices.Equal(alone, busy) {
		t.Errorf("%d latencies\nalone: %v\n busy: %v", len(alone), alone, busy)
	}
	// A round trip is a draw from each of two streams.
	there, back := alone[0], alone[1]
	if there == back {
		t.Errorf("request and reply both took %v", there)
	}
	for _, l := range alone {
		if l < 500*time.Microsecond || l > 3*time.Millisecond {
			t.Errorf("a message took %v", l)
		}
	}
	if slices.Max(alone)-slices.Min(alone) < time.Millisecond {
		t.Errorf("latencies are hardly spread: %v", alone)
	}
}
