package redis_test

import (
	"context"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	server "github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// stalledWorld runs a world whose node's disk stalls for a while, beginning at 500 ms.
// The key "first" is set at 300 ms, and given to the operating system immediately. A sync
// of the file begins at 1 s. The keys "second" and "third" are set at the times in more.
// left reports which keys exist at 20 s, and answered has the time of the answer to each
// SET.
func stalledWorld(t *testing.T, lasts time.Duration, more map[string]time.Duration, faults ...sim.Fault) (tr *trace.Trace, left map[string]bool, answered map[string]time.Duration) {
	t.Helper()
	left, answered = map[string]bool{}, map[string]time.Duration{}
	set := map[string]time.Duration{"first": 300 * time.Millisecond}
	for key, at := range more {
		set[key] = at
	}
	var clients []sim.Client
	for _, key := range []string{"first", "second", "third"} {
		at, ok := set[key]
		if !ok {
			continue
		}
		clients = append(clients, Client(t, key, func(ctx context.Context, p *sim.Program) error {
			conn, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			SleepUntil(at)
			if _, err := Ask(conn, "SET "+key+" v"); err == nil {
				answered[key] = Now()
			}
			SleepUntil(20 * time.Second)
			if conn, err = Dial(ctx, p, 0); err != nil {
				return err
			}
			got, err := Ask(conn, "GET "+key)
			left[key] = got == "$1\r\nv\r\n"
			return err
		}))
	}
	cfg := redisWorld(clients...)
	cfg.Nodes[0].Persistence = server.Everysec
	stall := Lasting(lasts, At(500*time.Millisecond, &sim.DiskStall{Node: "redis-1"}))
	tr = RunWorld(t, WithFaults(cfg, append([]sim.Fault{stall}, faults...)...))
	AllFaultsStruck(t, tr)
	return tr, left, answered
}

// While a sync of the file hangs, new writes stay in the memory of the process, so a kill
// loses them.
func TestKillDuringADiskStall(t *testing.T) {
	const second = 1500 * time.Millisecond
	tests := []struct {
		name  string
		lasts time.Duration // how long the disk stalls, from 500 ms on
		at    time.Duration // when the node crashes
		how   trace.Crash
		want  bool // whether the second key still exists after the crash
	}{
		{"killed during the stall", 3 * time.Second, 2 * time.Second, trace.Kill, false},
		{"killed after the stall", 1500 * time.Millisecond, 2200 * time.Millisecond, trace.Kill, true},
		{"killed after a stall that ended before the sync", time.Second / 4, 2 * time.Second, trace.Kill, true},
		{"shut down during the stall", 3 * time.Second, 2 * time.Second, trace.Shutdown, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			crash := Lasting(5*time.Second, At(test.at, CrashOf("redis-1", test.how)))
			_, left, answered := stalledWorld(t, test.lasts, map[string]time.Duration{"second": second}, crash)
			EqualTime(t, "the answer to the second SET", answered["second"], second+2*Hop)
			Equal(t, "the first key exists at the end", left["first"], true)
			Equal(t, "the second key exists at the end", left["second"], test.want)
		})
	}
}

// A power loss during a stall also loses the data of the unfinished sync.
func TestPowerLossDuringADiskStall(t *testing.T) {
	crash := Lasting(5*time.Second, At(2*time.Second, CrashOf("redis-1", trace.PowerLoss)))
	_, left, _ := stalledWorld(t, 3*time.Second, nil, crash)
	Equal(t, "the first key exists at the end", left["first"], false)
}

// Two seconds after the server has postponed a change, it appends the change to the file
// nevertheless. That blocks the server until the disk works again.
func TestLongDiskStallBlocksTheServer(t *testing.T) {
	const second, stallEnds = 1500 * time.Millisecond, 6 * time.Second
	tr, left, answered := stalledWorld(t, stallEnds-500*time.Millisecond, map[string]time.Duration{"second": second, "third": 4 * time.Second})
	EqualTime(t, "the answer to the second SET", answered["second"], second+2*Hop)
	EqualTime(t, "the server is blocked", OnlyEvent(t, tr, trace.KindPause, "redis-1").At, second+Hop+2*time.Second)
	EqualTime(t, "the server continues", OnlyEvent(t, tr, trace.KindResume, "redis-1").At, stallEnds)
	EqualTime(t, "the answer to the third SET", answered["third"], stallEnds+Hop)
	Equal(t, "the third key exists at the end", left["third"], true)
	syncs := Events(tr, trace.KindSync, "redis-1")
	if len(syncs) != 2 {
		t.Fatalf("the file was written to the disk %d times, want twice: %v", len(syncs), syncs)
	}
	EqualTime(t, "the sync that hung during the stall", syncs[0].At, stallEnds)
}

// A server that is blocked by its disk can be killed and started again.
func TestKillOfAServerBlockedByItsDisk(t *testing.T) {
	crash := Lasting(5*time.Second, At(5*time.Second, CrashOf("redis-1", trace.Kill)))
	tr, left, answered := stalledWorld(t, 6*time.Second, map[string]time.Duration{"second": 1500 * time.Millisecond, "third": 4 * time.Second}, crash)
	OnlyEvent(t, tr, trace.KindPause, "redis-1")
	NoEvents(t, tr, trace.KindResume, "redis-1")
	if at, ok := answered["third"]; ok {
		t.Errorf("the third SET was answered at %v by a blocked server, want no answer", at)
	}
	for key, want := range map[string]bool{"first": true, "second": false, "third": false} {
		Equal(t, "the key "+key+" exists at the end", left[key], want)
	}
}
