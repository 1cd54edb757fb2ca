package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// describeAttempts lists each attempt to acquire the lock: its time, client and period, and
// whether it failed.
func describeAttempts(tr *trace.Trace) string {
	var attempts []string
	for _, ev := range tr.Events {
		if ev.Step == trace.Acquire && ev.Kind == trace.KindBegin {
			attempts = append(attempts, fmt.Sprintf("%s for %d at %v", ev.Process, ev.Period, ev.At.Round(100*time.Millisecond)))
		}
		if ev.Step == trace.Acquire && ev.Kind == trace.KindEnd && !ev.OK {
			attempts[len(attempts)-1] += " in vain"
		}
	}
	return strings.Join(attempts, ", ")
}

// A client runs one section in each period that its own wall clock shows. It skips a period
// in which it does not get the lock.
func TestScheduledSections(t *testing.T) {
	minutely := trace.Schedule{First: 5 * time.Second, Every: time.Minute, Periods: 3}
	jump := func(client string, by time.Duration) sim.Fault { return At(0, &sim.Jump{client, by}) }
	for _, test := range []struct {
		name   string
		cfg    sim.Config
		faults []sim.Fault
		asked  string // the attempts to acquire the lock, as describeAttempts lists them
	}{
		{"a clock that is right", SectionsWorld(ToyLock, sim.Client{Name: "client-1", Works: time.Second}), nil,
			"client-1 for 1 at 5s, client-1 for 2 at 1m5s, client-1 for 3 at 2m5s"},
		{"a clock that is behind", SectionsWorld(ToyLock, sim.Client{Name: "client-1"}), []sim.Fault{jump("client-1", -2*time.Second)},
			"client-1 for 1 at 7s, client-1 for 2 at 1m7s, client-1 for 3 at 2m7s"},
		{"a clock that is ahead", SectionsWorld(ToyLock, sim.Client{Name: "client-1"}), []sim.Fault{jump("client-1", 90*time.Second)},
			"client-1 for 2 at 0s, client-1 for 3 at 35s"},
		{"a clock that is set back between two periods", SectionsWorld(ToyLock, sim.Client{Name: "client-1"}), []sim.Fault{At(70*time.Second, &sim.Jump{"client-1", -30 * time.Second})},
			"client-1 for 1 at 5s, client-1 for 2 at 1m5s, client-1 for 3 at 2m35s"},
		{"a client that starts late", SectionsWorld(ToyLock, sim.Client{Name: "client-1", Starts: Point("20s after the start")}), nil,
			"client-1 for 1 at 20s, client-1 for 2 at 1m5s, client-1 for 3 at 2m5s"},
		{"a client that still works when the next period begins", SectionsWorld(ToyLock, sim.Client{Name: "client-1", Works: 65 * time.Second}), nil,
			"client-1 for 1 at 5s, client-1 for 2 at 1m10s, client-1 for 3 at 2m15s"},
		{"a client that is paused for a whole period", SectionsWorld(ToyLock, sim.Client{Name: "client-1"}), []sim.Fault{Lasting(100*time.Second, At(50*time.Second, PauseOf("client-1")))},
			"client-1 for 1 at 5s, client-1 for 3 at 2m30s"},
		{"a second client that tries once in each period and fails", SectionsWorld(ToyLock,
			sim.Client{Name: "client-1", Works: time.Second}, sim.Client{Name: "client-2", Starts: Point("client-1 acquired"), Attempts: 1}), nil,
			"client-1 for 1 at 5s, client-2 for 1 at 5s in vain, client-1 for 2 at 1m5s, client-2 for 2 at 1m5s in vain, client-1 for 3 at 2m5s, client-2 for 3 at 2m5s in vain"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := WithFaults(test.cfg, test.faults...)
			cfg.Schedule = minutely
			tr := RunWorld(t, cfg)
			Equal(t, "the attempts to acquire", describeAttempts(tr), test.asked)
			var begun []string
			for _, ev := range tr.Events {
				if ev.Kind == trace.KindPeriod {
					begun = append(begun, fmt.Sprintf("%d at %v", ev.Period, ev.At.Round(time.Millisecond)))
				}
			}
			// The world may end before all of its periods have begun.
			if got := strings.Join(begun, ", "); got == "" || !strings.HasPrefix("1 at 5s, 2 at 1m5s, 3 at 2m5s", got) {
				t.Errorf("the periods begin as %q, want 5s, 1m5s and 2m5s, or the first of these", got)
			}
			for _, ev := range Events(tr, trace.KindDone, "client-1") {
				if !ev.OK {
					t.Errorf("client-1 ended with the error %s", ev.Text)
				}
			}
		})
	}
}

// A client with KeepsFor keeps the lock at least for that time after the grant, even if its
// tasks take less time.
func TestKeepsFor(t *testing.T) {
	for _, test := range []struct {
		works, keeps time.Duration
		released     time.Duration // when the client releases the lock
		refused      bool          // whether the storage refuses the client's write
	}{
		{time.Second, 0, time.Second, false},
		{time.Second, 20 * time.Second, 20 * time.Second, false},
		{10 * time.Second, 5 * time.Second, 10 * time.Second, false},
		{time.Second, 20 * time.Second, time.Second, true}, // the storage refuses the write, so the section fails and the client releases immediately
	} {
		cfg := SectionsWorld(ToyLock, sim.Client{Name: "client-1", Works: test.works, KeepsFor: test.keeps})
		if test.refused {
			cfg.Storage.Fencing = storage.CheckAndSet // this policy needs marks, and no client sets one
		}
		tr := RunWorld(t, cfg)
		releases := 0
		for _, ev := range tr.Events {
			if ev.Kind != trace.KindBegin || ev.Step != trace.Release {
				continue
			}
			releases++
			if ev.At.Round(time.Second/10) != test.released {
				t.Errorf("%+v: the client released the lock at %v, want %v", test, ev.At, test.released)
			}
		}
		if releases != 1 {
			t.Errorf("%+v: the client released the lock %d times, want once", test, releases)
		}
	}
}

// Clients write records of the periods that they have run, and skip periods that another
// client has recorded.
func TestRecordsOfPeriods(t *testing.T) {
	for _, test := range []struct {
		name   string
		does   []trace.Task
		second string // tasks of client-2, one second after client-1 is done
		served string // what the storage served
	}{
		{"recall and remember", Tasks("recall", "write x", "remember"), "acquire, read runs, release",
			"read runs for client-1 (1), write x for client-1 (1), write runs for client-1 (1), read runs for client-2 (2)"},
		{"claim", Tasks("claim", "write x"), "acquire, write runs failed, release",
			"write runs for client-1 (1), write x for client-1 (1), write runs for client-2 (2) refused"},
		{"no record", Tasks("write x"), "acquire, write x, release",
			"write x for client-1 (1), write x for client-2 (2)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := SectionsWorld(ToyLock,
				sim.Client{Name: "client-1", Does: test.does}, sim.Client{Name: "client-2", Does: test.does, Starts: Point("1s after client-1 finished")})
			cfg.Schedule = trace.Schedule{Every: time.Minute, Periods: 1}
			tr := RunWorld(t, cfg)
			Equal(t, "client-2's steps", Steps(tr, "client-2"), test.second)
			Equal(t, "what the storage served", StorageOps(tr), test.served)
		})
	}
}

// A schedule, or a task for it, that makes no sense in a world is refused with a reason.
func TestCheckSchedule(t *testing.T) {
	minutely := trace.Schedule{Every: time.Minute, Periods: 1}
	for _, test := range []struct {
		schedule trace.Schedule
		client   sim.Client
		says     string // a part of the error; "" for no error
	}{
		{minutely, sim.Client{Does: Tasks("recall", "write x", "remember")}, ""},
		{trace.Schedule{}, sim.Client{Does: Tasks("write runs")}, ""},
		{trace.Schedule{}, sim.Client{Does: Tasks("claim")}, "client-1 would claim a period, but there is no schedule"},
		{minutely, sim.Client{Does: Tasks("write runs")}, "only recall, remember and claim can use it"},
		{minutely, sim.Client{Sections: 2}, "client-1 has 2 sections"},
		{trace.Schedule{Periods: 1}, sim.Client{}, "a period lasts 0s"},
	} {
		test.client.Name = "client-1"
		cfg := SectionsWorld(ToyLock, test.client)
		cfg.Schedule = test.schedule
		_, err := sim.Run(cfg)
		if text := fmt.Sprint(err); (err == nil) != (test.says == "") || !strings.Contains(text, test.says) && err != nil {
			t.Errorf("%+v: the error is %v, want one that contains %q", test, err, test.says)
		}
	}
	kept := ToyLock
	kept.KeepsData = true
	cfg := SectionsWorld(kept, sim.Client{Name: "client-1", Does: Tasks("recall")})
	cfg.Schedule = minutely
	if err := cfg.CheckSchedule(); err == nil || !strings.Contains(err.Error(), "a process of its own") {
		t.Errorf("with a lock that keeps the data the error is %v, want one that asks for a process of its own", err)
	}
}
