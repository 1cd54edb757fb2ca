package setting

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// world is a scenario with every field that the setting describes.
const world = `
title: A world with everything
lock: {kind: redlock, ttl: 10s, nodes: 3, ask: all-at-once, clock: wall, node-timeout: 50ms, without: [elapsed-check]}
nodes:
  redis-2: {persistence: always}
  copy: {replica-of: redis-1, lag: 2s}
clients:
  client-1: {works: 1s}
  client-2: {starts: 5s after client-1 acquired, attempts: 2, works-until: client-1 wrote, gives-up: 3s}
storage: {fencing: reads-and-writes, copy-lag: 1s}
network: {latency: 2ms-3ms}
faults:
  - {pause: client-1, before: client-1 write, until: client-2 acquired}
  - {when: 1s after client-2 acquired, jump: redis-1, by: 31s}
  - {partition: client-1, from: [redis-1], at: 2s, for: 1s}
`

func TestSetting(t *testing.T) {
	s, err := scenarios.Parse("world.yaml", []byte(world))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{"lock", "redlock on 3 nodes, TTL 10s, asks its nodes all at once, measures time on the wall clock, waits 50ms for each node, elapsed-check turned off"},
		{"redis-2", "persistence always"},
		{"copy", "a replica of redis-1, 2s behind its master"},
		{"storage", "in the run with fencing it checks the token of every read and write; its copy is 1s behind"},
		{"client-1", "starts immediately, works for 1s"},
		{"client-2", "starts 5s after client-1 acquired, asks for the lock up to 2 times, works until client-1 wrote, stops waiting for the storage's answer after 3s"},
		{"network", "every message takes 2ms to 3ms"},
		{"fault 1", "pause client-1, before client-1 write, until client-2 acquired"},
		{"fault 2", "jump redis-1, by 31s, 1s after client-2 acquired"},
		{"fault 3", "partition client-1, from redis-1, at 2s, for 1s"},
	}
	if got := Describe(r.Runs[0], 1); !slices.Equal(got, want) {
		t.Errorf("the setting is\n%v\nwant\n%v", got, want)
	}
}

// The setting describes every field of a client. If a change of a field does not change the
// text, the field has been forgotten.
func TestSettingDescribesEveryFieldOfAClient(t *testing.T) {
	point, err := trace.ParsePoint("client-2 wrote")
	if err != nil {
		t.Fatal(err)
	}
	values := map[reflect.Type]any{
		reflect.TypeFor[string]():        "mine",
		reflect.TypeFor[int]():           3,
		reflect.TypeFor[bool]():          true,
		reflect.TypeFor[time.Duration](): 7 * time.Second,
		reflect.TypeFor[trace.Point]():   point,
		reflect.TypeFor[[]trace.Task]():  trace.DefaultTasks(),
		reflect.TypeFor[locks.Retry]():   locks.Jitter,
	}
	notDescribed := []string{"Name", "Run"} // the first is the label, and only tests use the second
	for field := range reflect.TypeFor[sim.Client]().Fields() {
		if slices.Contains(notDescribed, field.Name) {
			continue
		}
		value, ok := values[field.Type]
		if !ok {
			t.Errorf("this test has no value for the type of the field %s", field.Name)
			continue
		}
		var c sim.Client
		reflect.ValueOf(&c).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(value))
		if clientWords(c, trace.Point.Phrase) == clientWords(sim.Client{}, trace.Point.Phrase) {
			t.Errorf("the setting does not mention the field %s", field.Name)
		}
	}
}

func TestSettingDescribesEveryOptionOfALock(t *testing.T) {
	values := locks.Options{
		Ask: locks.AllAtOnce, Clock: fakeclock.Wall, Fallback: locks.GoAhead, NodeTimeout: time.Second, Holders: 2, Expects: time.Second, Failures: 2, OpenFor: time.Second, Without: []string{"extend"},
	}
	tr := &trace.Trace{Locks: []trace.LockInfo{{Kind: "redlock"}}}
	for field := range reflect.TypeFor[locks.Options]().Fields() {
		var lock sim.Lock
		reflect.ValueOf(&lock.Options).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(values).FieldByIndex(field.Index))
		if lockWords(tr.Locks, lock) == lockWords(tr.Locks, sim.Lock{}) {
			t.Errorf("the setting does not mention the option %s", field.Name)
		}
	}
}

func TestSettingOfALockThatGrantsEveryone(t *testing.T) {
	tr := &trace.Trace{Locks: []trace.LockInfo{{Kind: "none", GrantsEveryone: true}}}
	if got, want := lockWords(tr.Locks, sim.Lock{}), "none: no lock, every client enters its section"; got != want {
		t.Errorf("the setting describes the lock as %q, want %q", got, want)
	}
}
