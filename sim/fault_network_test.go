package sim_test

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

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Two clients each send one command at two seconds, under a partition, and wait half a
// second for the answer. A third client checks which commands took effect.
func TestPartition(t *testing.T) {
	type outcome struct {
		timedOut bool          // whether client-1's command timed out
		set      time.Duration // when client-1's key was set
	}
	const sent = 2 * time.Second
	// cut returns a partition from 1 s to 4 s.
	cut := func(process string, from []string, d sim.Direction) []sim.Fault {
		return []sim.Fault{Lasting(3*time.Second, At(time.Second, &sim.Partition{process, from, d}))}
	}
	const healed = 4*time.Second + Hop // when messages arrive that the partition held back: one hop after its end
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		want   outcome
	}{
		{"no partition", nil, outcome{false, sent + Hop}},
		{"both directions", cut("client-1", []string{"toy-1"}, ""), outcome{true, healed}},
		{"both directions, with toy-1 as the process", cut("toy-1", []string{"client-1"}, sim.Both), outcome{true, healed}},
		// The request is held back.
		{"client-1 to toy-1", cut("client-1", []string{"toy-1"}, sim.To), outcome{true, healed}},
		// The request arrives, and its answer is held back.
		{"toy-1 to client-1", cut("client-1", []string{"toy-1"}, sim.From), outcome{true, sent + Hop}},
		{"toy-1 to client-1, with toy-1 as the process", cut("toy-1", []string{"client-1"}, sim.To), outcome{true, sent + Hop}},
		{"client-1 to toy-1, with toy-1 as the process", cut("toy-1", []string{"client-1"}, sim.From), outcome{true, healed}},
		{"partition of client-2", cut("toy-1", []string{"client-2"}, sim.Both), outcome{false, sent + Hop}},
		{"partition between client-1 and the storage", cut("client-1", []string{trace.StorageName}, sim.Both), outcome{false, sent + Hop}},
		{"two partitions at once, the second for longer", append(cut("client-1", []string{"toy-1"}, sim.To),
			Lasting(5*time.Second, At(time.Second, &sim.Partition{"client-1", []string{"toy-1"}, sim.To}))), outcome{true, 6*time.Second + Hop}},
		{"the partition ends before the timeout", []sim.Fault{Lasting(200*time.Millisecond, At(sent-Hop, &sim.Partition{"client-1", []string{"toy-1"}, ""}))}, outcome{false, sent + 200*time.Millisecond}},
		{"the partition begins when the request is in flight", []sim.Fault{Until("1s after client-1's request to toy-1 is in flight", When("client-1's request to toy-1 is in flight", &sim.Partition{"client-1", []string{"toy-1"}, ""}))},
			outcome{true, sent + time.Second + Hop}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got outcome
			tr := RunWorld(t, WithFaults(ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					toy := Toy(p, 0)
					if err := toy.Do(ctx, "ping"); err != nil {
						return err
					}
					SleepUntil(sent)
					err := toy.Do(WithTrueTimeout(ctx, 500*time.Millisecond), "set k v")
					got.timedOut = errors.Is(err, os.ErrDeadlineExceeded)
					if err != nil && !got.timedOut {
						return err
					}
					return nil
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					// The client waits until every message has arrived.
					return p.Clock().Sleep(ctx, 20*time.Second)
				}),
			), test.faults...))
			AllFaultsStruck(t, tr)
			got.set = OnlyEvent(t, tr, trace.KindSet, "toy-1").At
			Equal(t, "client-1's command timed out", got.timedOut, test.want.timedOut)
			EqualTime(t, "the key was set", got.set, test.want.set)
			if got.timedOut {
				EqualTime(t, "client-1 timed out", OnlyEvent(t, tr, trace.KindTimeout, "client-1").At, sent+500*time.Millisecond)
			}
		})
	}
}

// A dial across a partition gets no answer. It fails at its caller's deadline, or succeeds
// when the partition ends, if that is sooner.
func TestDialAcrossAPartition(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		fails  bool          // whether the dial fails at its deadline, 4 s
		at     time.Duration // when the dial ends
	}{
		{"no partition", nil, false, time.Second + 2*Hop},
		{"a partition until the end of the run", []sim.Fault{At(0, &sim.Partition{"client-1", []string{"toy-1"}, ""})}, true, 4 * time.Second},
		{"the partition ends before the deadline", []sim.Fault{Lasting(2*time.Second, At(0, &sim.Partition{"client-1", []string{"toy-1"}, ""}))}, false, 2*time.Second + 2*Hop},
		{"a partition from toy-1 to client-1", []sim.Fault{Lasting(2*time.Second, At(0, &sim.Partition{"client-1", []string{"toy-1"}, sim.From}))}, false, 2*time.Second + Hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			var failed error
			var ended time.Duration
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				SleepUntil(time.Second)
				_, failed = Dial(WithTrueTimeout(ctx, 3*time.Second), p, 0)
				ended = Now()
				return nil
			})), test.faults...))
			Equal(t, "the dial failed", failed != nil, test.fails)
			if test.fails && !errors.Is(failed, context.DeadlineExceeded) {
				t.Errorf("the dial failed with %v, want %v", failed, context.DeadlineExceeded)
			}
			EqualTime(t, "the dial ended", ended, test.at)
			// One refused dial is wanted if the dial fails, and none if it succeeds.
			Equal(t, "number of refused dials", len(Events(tr, trace.KindRefuse, "client-1")), len(map[bool][]int{true: {1}}[test.fails]))
		})
	}
}

// After a timeout the client closes the connection, but the request may still arrive, and
// may take effect long after.
func TestRequestArrivesAfterTimeout(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []sim.Fault
	}{
		{"delay", []sim.Fault{Lasting(1500*time.Millisecond, At(time.Second, &sim.Delay{"client-1", "toy-1", 3 * time.Second, sim.To}))}},
		{"hold", []sim.Fault{Lasting(3*time.Second, At(time.Second, &sim.Hold{HeldMessage("client-1's request to toy-1")}))}},
		{"partition", []sim.Fault{Lasting(4*time.Second, At(time.Second, &sim.Partition{"client-1", []string{"toy-1"}, sim.To}))}},
		{"pause of the node", []sim.Fault{Lasting(4*time.Second+Hop, At(time.Second, PauseOf("toy-1")))}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after string // the value of k before and after the late request arrives
			tr := RunWorld(t, WithFaults(ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					toy := Toy(p, 0)
					if err := toy.Do(ctx, "set k old"); err != nil {
						return err
					}
					SleepUntil(2 * time.Second)
					if err := toy.Do(WithTrueTimeout(ctx, 100*time.Millisecond), "set k new"); !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("client-1's second set ended with %v, want %v", err, os.ErrDeadlineExceeded)
					}
					return nil
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					conn, err := Dial(ctx, p, 0)
					if err != nil {
						return err
					}
					SleepUntil(4 * time.Second)
					if test.name != "pause of the node" {
						if before, err = Ask(conn, "get k"); err != nil {
							return err
						}
					}
					SleepUntil(7 * time.Second)
					after, err = Ask(conn, "get k")
					return err
				}),
			), test.faults...))
			AllFaultsStruck(t, tr)
			closed := FirstEvent(t, tr, trace.KindClose, "client-1")
			EqualTime(t, "client-1 closed its connection", closed.At, 2*time.Second+100*time.Millisecond)
			set := Events(tr, trace.KindSet, "toy-1")
			if len(set) != 2 {
				t.Fatalf("the key was set %d times, want 2\n%s", len(set), Dump(tr))
			}
			EqualTime(t, "the late request set the key", set[1].At, 5*time.Second+Hop)
			if test.name != "pause of the node" {
				Equal(t, "the value before the late request arrives", before, "old\n")
			}
			Equal(t, "the value after the late request", after, "new\n")
		})
	}
}

// A delay adds to each message of one link that is sent while it lasts.
func TestDelay(t *testing.T) {
	const by = 500 * time.Millisecond
	// slow returns a delay from 1 s to 2 s.
	slow := func(process, to string, d sim.Direction) []sim.Fault {
		return []sim.Fault{Lasting(time.Second, At(time.Second, &sim.Delay{process, to, by, d}))}
	}
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		during time.Duration // how long a command takes that is sent at 1.2 s, during the delay
	}{
		{"no delay", nil, 2 * Hop},
		{"both directions", slow("client-1", "toy-1", ""), 2*Hop + 2*by},
		{"client-1 to toy-1", slow("client-1", "toy-1", sim.To), 2*Hop + by},
		{"toy-1 to client-1", slow("client-1", "toy-1", sim.From), 2*Hop + by},
		{"client-1 to toy-1, with toy-1 as the process", slow("toy-1", "client-1", sim.From), 2*Hop + by},
		{"two delays at once", slices.Concat(slow("client-1", "toy-1", sim.To), slow("client-1", "toy-1", sim.To)), 2*Hop + 2*by},
		{"delay of client-2", slow("client-2", "toy-1", ""), 2 * Hop},
	} {
		t.Run(test.name, func(t *testing.T) {
			var during, after time.Duration
			tr := RunWorld(t, WithFaults(ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					toy := Toy(p, 0)
					err := toy.Do(ctx, "ping")
					SleepUntil(1200 * time.Millisecond)
					began := Now()
					err = errors.Join(err, toy.Do(ctx, "set k v"))
					during = Now() - began
					SleepUntil(4 * time.Second)
					began = Now()
					err = errors.Join(err, toy.Do(ctx, "set k v"))
					after = Now() - began
					return err
				}),
				Client(t, "client-2", func(context.Context, *sim.Program) error { return nil }),
			), test.faults...))
			AllFaultsStruck(t, tr)
			EqualTime(t, "the answer to a command during the delay arrives", during, test.during)
			EqualTime(t, "the answer to a command after the delay arrives", after, 2*Hop)
		})
	}
}

// On one connection, no message overtakes an earlier message. On two connections it can.
func TestOrderOnAConnection(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		want   string // the values of k, in order
	}{
		{"no fault", nil, "first second third"},
		{"delay", []sim.Fault{Lasting(500*time.Millisecond, At(time.Second-Hop, &sim.Delay{"client-1", "toy-1", 5 * time.Second, sim.To}))}, "third first second"},
		{"hold", []sim.Fault{Lasting(5*time.Second, At(0, &sim.Hold{HeldMessage("client-1's request to toy-1")}))}, "third first second"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				one, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				other, err := Dial(ctx, p, 0)
				if err != nil {
					return err
				}
				SleepUntil(time.Second)
				_, err = one.Write([]byte("set k first\n"))
				SleepUntil(2 * time.Second)
				_, err2 := one.Write([]byte("set k second\n"))
				SleepUntil(3 * time.Second)
				_, err3 := other.Write([]byte("set k third\n"))
				return errors.Join(err, err2, err3, p.Clock().Sleep(ctx, 10*time.Second))
			})), test.faults...))
			AllFaultsStruck(t, tr)
			var values []string
			for _, ev := range Events(tr, trace.KindSet, "toy-1") {
				values = append(values, ev.Value)
			}
			Equal(t, "the values of k", strings.Join(values, " "), test.want)
		})
	}
}

// The fault hold can hold back a reply: the command was executed, but the client does not
// know that yet.
func TestHoldAReply(t *testing.T) {
	var err error              // result of client-1's acquire
	var answered time.Duration // when that acquire returned
	cfg := ToyWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			toy := Toy(p, 0)
			if err := toy.Do(ctx, "ping"); err != nil {
				return err
			}
			SleepUntil(time.Second)
			err = p.Step(trace.Acquire, func() error { return toy.Do(WithTrueTimeout(ctx, 3*time.Second), "set k v") })
			answered = Now()
			return nil
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(2 * time.Second)
			value, err := Toy(p, 0).Ask(ctx, "get k")
			Equal(t, "the value that client-2 reads", value, "v")
			return errors.Join(err, p.Clock().Sleep(ctx, 5*time.Second))
		}),
	)
	hold := &sim.Hold{HeldMessage("toy-1's reply to client-1's acquire")}
	t.Run("no hold", func(t *testing.T) {
		RunWorld(t, cfg)
		Equal(t, "the error of acquire", err, nil)
		EqualTime(t, "acquire returned", answered, time.Second+2*Hop)
	})
	t.Run("the reply is released before the timeout", func(t *testing.T) {
		tr := RunWorld(t, WithFaults(cfg, Until("client-2's request to toy-1 arrived", At(0, hold))))
		AllFaultsStruck(t, tr)
		Equal(t, "the error of acquire", err, nil)
		released := OnlyEvent(t, tr, trace.KindLift, "")
		EqualTime(t, "the hold ended", released.At, 2*time.Second+3*Hop)
		EqualTime(t, "acquire returned", answered, released.At+Hop)
		held := OnlyEvent(t, tr, trace.KindHold, "toy-1")
		EqualTime(t, "the reply was held back", held.At, time.Second+Hop)
		Equal(t, "the step of the reply", held.Step, trace.Acquire)
	})
	t.Run("the reply is held back until the end of the run", func(t *testing.T) {
		tr := RunWorld(t, WithFaults(cfg, At(0, hold)))
		AllFaultsStruck(t, tr)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("acquire ended with %v, want %v", err, os.ErrDeadlineExceeded)
		}
		EqualTime(t, "acquire failed", answered, 4*time.Second)
	})
	t.Run("the hold waits for a reply to extend, which never comes", func(t *testing.T) {
		tr := RunWorld(t, WithFaults(cfg, At(0, &sim.Hold{HeldMessage("toy-1's reply to client-1's extend")})))
		if tr.Faults[0].IdleReason == "" {
			t.Error("the trace does not say that the hold did not act")
		}
		EqualTime(t, "acquire returned", answered, time.Second+2*Hop)
	})
}

// The fault hold acts only on the first matching message after its trigger.
func TestHoldOneRequestToTheStorage(t *testing.T) {
	write := func(ctx context.Context, p *sim.Program, value string) error {
		return p.Step(trace.Write, func() error {
			_, err := p.Storage(ctx, storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: value})
			return err
		})
	}
	cfg := ToyWorld(
		Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			early := write(ctx, p, "early")
			SleepUntil(2 * time.Second)
			// The client gives up after a second, and the write still arrives.
			late := write(WithTrueTimeout(ctx, time.Second), p, "late")
			return errors.Join(early, ignore(late, context.DeadlineExceeded))
		}),
		Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
			SleepUntil(4 * time.Second)
			return write(ctx, p, "newer")
		}),
	)
	// values lists the values of the writes in the order in which the storage served them.
	values := func(tr *trace.Trace) string {
		var values []string
		for _, ev := range Events(tr, trace.KindServe, trace.StorageName) {
			values = append(values, ev.Value)
		}
		return strings.Join(values, " ")
	}
	t.Run("no hold", func(t *testing.T) {
		Equal(t, "the storage served", values(RunWorld(t, cfg)), "early late newer")
	})
	t.Run("client-1's second write is held back", func(t *testing.T) {
		tr := RunWorld(t, WithFaults(cfg, Until("storage applied client-2's write", At(time.Second, &sim.Hold{HeldMessage("client-1's write request to storage")}))))
		AllFaultsStruck(t, tr)
		Equal(t, "the storage served", values(tr), "early newer late")
		Equal(t, "the object at the end", OnlyEvent(t, tr, trace.KindObject, trace.StorageName).Value, "late")
		EqualTime(t, "client-1 gave up", OnlyEvent(t, tr, trace.KindClose, "client-1").At, 3*time.Second)
	})
}

// The fault hold can select a later message, such as the third. It counts the matching
// messages after its trigger, including those that another fault holds back.
func TestHoldTheNthMessage(t *testing.T) {
	// The client sends five writes, a second apart, with a read between every two. It does
	// not wait for the answers.
	cfg := ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		for i := range 5 {
			SleepUntil(time.Duration(i+1) * time.Second)
			for _, op := range []storage.Op{storage.Read, storage.Write} {
				_ = p.Step(trace.Step(op), func() error {
					_, err := p.Storage(WithTrueTimeout(ctx, 100*time.Millisecond), storage.Request{Op: op, Object: trace.DefaultObject, Value: fmt.Sprint(i + 1)})
					return err
				})
			}
		}
		return nil
	}))
	// writes selects client-1's writes, and hold holds back the nth message that m selects.
	writes := trace.Message{Client: "client-1", Peer: trace.StorageName, Step: trace.Write}
	hold := func(m trace.Message, nth int) *sim.Hold { return &sim.Hold{trace.NthMessage{Message: m, Nth: nth}} }
	for _, test := range []struct {
		faults []sim.Fault
		held   string // the seconds at which the messages were sent that were held back
	}{
		{[]sim.Fault{At(0, hold(writes, 0))}, "1"},
		{[]sim.Fault{At(0, hold(writes, 1))}, "1"},
		{[]sim.Fault{At(0, hold(writes, 3))}, "3"},
		{[]sim.Fault{At(0, &sim.Hold{HeldMessage("client-1's  write request to storage, 3rd time")})}, "3"},
		{[]sim.Fault{At(2500*time.Millisecond, hold(writes, 2))}, "4"},
		{[]sim.Fault{When("client-1's write request to storage is in flight, 2nd time", hold(writes, 1))}, "3"},
		{[]sim.Fault{Before("client-1 write, 2nd time", hold(writes, 1))}, "2"},
		{[]sim.Fault{At(0, hold(trace.Message{Client: "client-1", Peer: trace.StorageName}, 4))}, "2"}, // this message may be a read or a write, so reads count too
		{[]sim.Fault{At(0, hold(writes, 2)), At(0, hold(writes, 4))}, "2 4"},
		{[]sim.Fault{At(0, hold(writes, 2)), At(0, hold(writes, 2))}, "2 3"},
		{[]sim.Fault{At(0, hold(writes, 2)), At(1500*time.Millisecond, hold(writes, 2))}, "2 3"},
	} {
		tr := RunWorld(t, WithFaults(cfg, test.faults...))
		AllFaultsStruck(t, tr)
		var held []string
		for _, ev := range Events(tr, trace.KindHold, "client-1") {
			held = append(held, fmt.Sprint(int((ev.At+Hop)/time.Second)))
		}
		Equal(t, fmt.Sprint(test.faults[0].Text, ": the held messages were sent in the seconds"), strings.Join(held, " "), test.held)
	}
	tr := RunWorld(t, WithFaults(cfg, At(0, hold(writes, 6))))
	Equal(t, "why a hold of the sixth write did not act", tr.Faults[0].IdleReason, "what it waits for never happened")
}

// ignore drops an error that is expected.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// A reset ends the connections between two processes at the same moment, and messages in
// flight are lost. New connections work.
func TestReset(t *testing.T) {
	type outcome struct {
		err   string        // error of client-1's first set: "reset", or "" for none
		ended time.Duration // when that set returned
		sets  int           // how many keys toy-1 has set
	}
	for _, test := range []struct {
		name   string
		faults []sim.Fault
		want   outcome
	}{
		{"no reset", nil, outcome{"", time.Second + 2*Hop, 2}},
		{"before the request arrives", []sim.Fault{At(time.Second+Hop/2, &sim.Reset{"client-1", "toy-1"})}, outcome{"reset", time.Second + Hop/2, 1}},
		{"before the reply arrives", []sim.Fault{At(time.Second+Hop+Hop/2, &sim.Reset{"toy-1", "client-1"})}, outcome{"reset", time.Second + Hop + Hop/2, 2}},
		{"when the request is in flight", []sim.Fault{When("client-1's write request to toy-1 is in flight", &sim.Reset{"client-1", "toy-1"})}, outcome{"reset", time.Second, 1}},
		// The client checks the idle connection before it uses it, and opens a new one.
		{"while the connection is idle", []sim.Fault{At(500*time.Millisecond, &sim.Reset{"client-1", "toy-1"})}, outcome{"", time.Second + 4*Hop, 2}},
		{"reset of client-2", []sim.Fault{At(time.Second+Hop/2, &sim.Reset{"client-2", "toy-1"})}, outcome{"", time.Second + 2*Hop, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got outcome
			tr := RunWorld(t, WithFaults(ToyWorld(
				Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
					toy := Toy(p, 0)
					if err := toy.Do(ctx, "ping"); err != nil {
						return err
					}
					SleepUntil(time.Second)
					err := p.Step(trace.Write, func() error { return toy.Do(ctx, "set first v") })
					if errors.Is(err, syscall.ECONNRESET) {
						got.err, err = "reset", nil
					}
					got.ended = Now()
					SleepUntil(2 * time.Second)
					return errors.Join(err, toy.Do(ctx, "set second v"))
				}),
				Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
					err := Toy(p, 0).Do(WithTrueTimeout(ctx, 5*time.Second), "wait k")
					return ignore(ignore(err, os.ErrDeadlineExceeded), syscall.ECONNRESET)
				}),
			), test.faults...))
			AllFaultsStruck(t, tr)
			got.sets = len(Events(tr, trace.KindSet, "toy-1"))
			Equal(t, "the error of the first set", got.err, test.want.err)
			Equal(t, "number of keys set", got.sets, test.want.sets)
			EqualTime(t, "the first set returned", got.ended, test.want.ended)
			if got.err != "" {
				OnlyEvent(t, tr, trace.KindReset, "client-1")
				OnlyEvent(t, tr, trace.KindReset, "toy-1")
				lost := len(Events(tr, trace.KindLose, "client-1")) + len(Events(tr, trace.KindLose, "toy-1"))
				Equal(t, "number of lost messages", lost, 1)
			}
		})
	}
}

// A reset also cuts the connection to the storage.
func TestResetOfTheStorage(t *testing.T) {
	var first, second error
	tr := RunWorld(t, WithFaults(ToyWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		write := storage.Request{Op: storage.Write, Object: trace.DefaultObject, Value: "v"}
		_, first = p.Storage(ctx, write)
		_, second = p.Storage(ctx, write)
		return nil
	})), When("client-1's request to storage is in flight, 1st time", &sim.Reset{"client-1", trace.StorageName})))
	if !errors.Is(first, syscall.ECONNRESET) || second != nil {
		t.Errorf("the first write ended with %v, want %v; the second with %v, want no error", first, syscall.ECONNRESET, second)
	}
	Equal(t, "the version after the only applied write", OnlyEvent(t, tr, trace.KindServe, trace.StorageName).Version, 1)
}

// Each link draws its latencies from its own random source, so an additional message on one
// link does not change the latencies of another.
func TestLatenciesAreIndependent(t *testing.T) {
	// measure returns the latencies of client-1's messages. If busy is set, client-2 sends
	// a message to the same node.
	measure := func(busy bool) (latencies []time.Duration) {
		cfg := ToyWorld(
			Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
				toy := Toy(p, 0)
				for range 20 {
					if err := toy.Do(ctx, "ping"); err != nil {
						return err
					}
				}
				return nil
			}),
			Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
				if !busy {
					return nil
				}
				return Toy(p, 0).Do(ctx, "ping")
			}),
		)
		cfg.Network = sim.Network{Min: 500 * time.Microsecond, Max: 3 * time.Millisecond}
		sent := map[[2]int]time.Duration{}
		for _, ev := range RunWorld(t, cfg).Events {
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
	alone, busy := measure(false), measure(true)
	if len(alone) != 40 || !slices.Equal(alone, busy) {
		t.Errorf("%d latencies, want 40 that are the same in both worlds\nclient-1 alone: %v\nwith client-2:  %v", len(alone), alone, busy)
	}
	// A round trip draws one latency on the link to the node and one on the link back.
	toNode, toClient := alone[0], alone[1]
	if toNode == toClient {
		t.Errorf("request and reply both took %v, want different latencies", toNode)
	}
	for _, l := range alone {
		if l < 500*time.Microsecond || l > 3*time.Millisecond {
			t.Errorf("a message took %v, want 500µs to 3ms", l)
		}
	}
	if slices.Max(alone)-slices.Min(alone) < time.Millisecond {
		t.Errorf("the latencies differ by less than 1ms: %v", alone)
	}
}
