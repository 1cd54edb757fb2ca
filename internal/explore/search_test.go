package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A fakeBase stands in for a base that is run: it only has a record, with two clients and
// three nodes.
type fakeBase struct {
	runs.Backend
	points int
}

func (s fakeBase) Record(_ context.Context, base int) (*Record, error) {
	r := &Record{
		Base: base, Name: "stage", Lock: "redlock", System: "redis", TTL: 30 * time.Second,
		Clients: []string{"client-1", "client-2"}, Nodes: []string{"redis-1", "redis-2", "redis-3"},
		Roles: map[string]trace.Role{
			"client-1": trace.RoleClient, "client-2": trace.RoleClient, trace.StorageName: trace.RoleStorage,
			"redis-1": trace.RoleNode, "redis-2": trace.RoleNode, "redis-3": trace.RoleNode,
		},
	}
	for i := range s.points {
		for _, c := range r.Clients {
			p := trace.StepPoint{Client: c, Step: trace.Steps()[i%3], Nth: i/3 + 1}
			r.Points = append(r.Points, InjectionPoint{Process: c, Strikes: trace.Trigger{Before: p}, Stage: p.Step, At: time.Duration(i) * time.Second})
		}
		for _, n := range r.Nodes {
			m := trace.Message{Client: "client-1", Peer: n, Step: trace.Acquire}
			r.Points = append(r.Points, InjectionPoint{Process: n, Strikes: trace.Trigger{When: m.Arrived(i + 1)}, Stage: trace.Acquire, At: time.Duration(i) * time.Second})
		}
	}
	return r, nil
}

// newSearch returns a search on a fakeBase. broken decides what breaks in a world. Two
// worlds have different behaviours if their faults differ in kind or target.
func newSearch(points, faults, worlds, jobs int, broken func(w runs.WorldSpec) []runs.Break) *Search {
	return &Search{
		Bases: []Base{{Base: runs.Base{Name: "stage", Seed: 1}}}, MaxFaults: faults, Worlds: worlds, Jobs: jobs,
		Records: fakeBase{points: points},
		Runner: runs.RunnerFunc(func(_ context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
			run := runs.RunResult{Behaviour: 1, Breaks: broken(w)}
			for _, f := range w.Faults {
				p := f.Parameters()
				run.Behaviour = run.Behaviour*31 + uint64(len(p.Kind))*7 + uint64(len(p.Target)) + uint64(len(p.Others))
			}
			return runs.WorldResult{Off: run, On: run}, nil
		}),
	}
}

// find runs a search, and fails the test if it returns an error.
func find(t *testing.T, s *Search) *Found {
	t.Helper()
	f, err := s.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// groupIDs returns the IDs of the groups that were found, with the number of worlds in
// each.
func groupIDs(f *Found) string {
	var all []string
	for id, g := range f.groups {
		all = append(all, fmt.Sprintf("%s: %d", id, g.worlds))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// countFaults counts the faults of a world for which matches returns true.
func countFaults(w runs.WorldSpec, matches func(runs.Fault) bool) int {
	n := 0
	for _, f := range w.Faults {
		if matches(f) {
			n++
		}
	}
	return n
}

func pausesClient(f runs.Fault) bool {
	pause, ok := f.Action.(*sim.Pause)
	return ok && pause.Process == "client-1"
}

func cutsMinority(f runs.Fault) bool {
	cut, ok := f.Action.(*sim.Partition)
	return ok && len(cut.From) == 1 && cut.From[0] != trace.StorageName
}

func jumpsAhead(f runs.Fault) bool {
	jump, ok := f.Action.(*sim.Jump)
	return ok && jump.Process == "redis-3" && jump.By > 0
}

var (
	needsFencing = []runs.Break{{What: string(checks.SectionExclusion), Blame: checks.BlameInherent}}
	twoLeases    = []runs.Break{{What: string(checks.LeaseExclusion), Blame: checks.BlameAssumption(trace.AssumeClock)}}
)

// Every single fault is tried once. Those that break something in the same way are one
// group.
func TestSingleFaultsAreAllTried(t *testing.T) {
	tried := map[string]int{}
	var mu sync.Mutex
	s := newSearch(4, 1, 0, 3, func(w runs.WorldSpec) []runs.Break {
		mu.Lock()
		defer mu.Unlock()
		tried[w.Key()]++
		if countFaults(w, pausesClient) > 0 {
			return needsFencing
		}
		return nil
	})
	f := find(t, s)
	r, _ := fakeBase{points: 4}.Record(t.Context(), 0)
	singles := r.Singles()
	if len(tried) != len(singles) {
		t.Errorf("%d worlds were run, want the %d single faults", len(tried), len(singles))
	}
	for world, n := range tried {
		if n != 1 {
			t.Errorf("%s was run %d times, want once", world, n)
		}
	}
	level := f.result.Levels[0]
	pauses := uint64(0)
	for _, w := range singles {
		if pausesClient(w.Faults[0]) {
			pauses++
		}
	}
	if level.Space != uint64(len(singles)) || level.Tried != level.Space || level.Broke != pauses {
		t.Errorf("%+v, want %d tried and %d broken", level, len(singles), pauses)
	}
	if got, want := groupIDs(f), fmt.Sprintf("late-client/inherent-needs-fencing: %d", pauses); got != want {
		t.Errorf("groups:\n%s\nwant\n%s", got, want)
	}
	if f.result.First != 1+slices.IndexFunc(singles, func(w runs.WorldSpec) bool { return pausesClient(w.Faults[0]) }) {
		t.Errorf("the first world that breaks something is number %d, want that of the first pause of client-1", f.result.First)
	}
}

// If two faults together break the lock, a search finds them among the pairs. A pair does
// not count if one of its faults does the same damage alone.
func TestPairs(t *testing.T) {
	s := newSearch(3, 2, 3000, 4, func(w runs.WorldSpec) []runs.Break {
		var all []runs.Break
		if countFaults(w, pausesClient) > 0 {
			all = append(all, needsFencing...)
		}
		if countFaults(w, cutsMinority) > 0 && countFaults(w, jumpsAhead) > 0 {
			all = append(all, twoLeases...)
		}
		return all
	})
	f := find(t, s)
	pair := f.groups["node-clock-forward+unreachable-node/assumption-clock"]
	if pair == nil || pair.worlds < 5 {
		t.Fatalf("groups:\n%s", groupIDs(f))
	}
	if w := pair.best.world; len(w.Faults) != 2 || countFaults(w, cutsMinority) != 1 || countFaults(w, jumpsAhead) != 1 {
		t.Errorf("the example is %v, want a partition from one node and a jump of redis-3", w.Faults)
	}
	for id, g := range f.groups {
		if len(g.best.world.Faults) == 2 && id != pair.id {
			t.Errorf("the pair %v is a way of its own, %s, although one of its faults does the same damage", g.best.world.Faults, id)
		}
	}
	if l := f.result.Levels[1]; l.Tried != 3000 || l.Broke != uint64(pair.worlds) || l.KindsTried != l.Kinds {
		t.Errorf("%+v", l)
	}
}

// If three faults together break the lock, a search finds them, provided that pairs of them
// show new behaviours.
func TestTriples(t *testing.T) {
	three := func(w runs.WorldSpec) []runs.Break {
		if countFaults(w, cutsMinority) > 0 && countFaults(w, jumpsAhead) > 0 && countFaults(w, pausesClient) > 0 {
			return twoLeases
		}
		return nil
	}
	if f := find(t, newSearch(2, 2, 3000, 2, three)); len(f.groups) != 0 {
		t.Errorf("a search with two faults finds:\n%s\nwant nothing", groupIDs(f))
	}
	f := find(t, newSearch(2, 3, 6000, 2, three))
	if g := f.groups["late-client+node-clock-forward+unreachable-node/assumption-clock"]; g == nil || len(f.groups) != 1 {
		t.Errorf("groups:\n%s", groupIDs(f))
	}
}

// The result of a search depends neither on how many worlds run at the same time, nor on
// how long each of them takes.
func TestSearchIsDeterministic(t *testing.T) {
	findWithJobs := func(jobs int) string {
		s := newSearch(3, 3, 1500, jobs, func(w runs.WorldSpec) []runs.Break {
			if jobs > 1 {
				time.Sleep(time.Duration(rand.IntN(20)) * time.Microsecond)
			}
			if countFaults(w, cutsMinority) > 0 && countFaults(w, jumpsAhead) > 0 {
				return twoLeases
			}
			return nil
		})
		f := find(t, s)
		var examples []string
		for id, g := range f.groups {
			examples = append(examples, id+" "+g.best.world.Key())
		}
		slices.Sort(examples)
		return fmt.Sprintf("%+v\n%s\n%s", f.result.Levels, groupIDs(f), strings.Join(examples, "\n"))
	}
	want := findWithJobs(1)
	for _, jobs := range []int{2, 7} {
		if got := findWithJobs(jobs); got != want {
			t.Errorf("with %d jobs:\n%s\nwith one:\n%s", jobs, got, want)
		}
	}
}

// The parts of a search together run every world of the whole search. If their ledgers are
// joined, the result is the same.
func TestShards(t *testing.T) {
	broken := func(w runs.WorldSpec) []runs.Break {
		if countFaults(w, cutsMinority) > 0 && countFaults(w, jumpsAhead) > 0 {
			return twoLeases
		}
		return nil
	}
	whole := find(t, newSearch(3, 2, 1000, 2, broken))
	together := NewLedger()
	var heading Heading
	for part := 1; part <= 3; part++ {
		s := newSearch(3, 2, 1000, 2, broken)
		s.Shard, s.Shards = part, 3
		s.Ledger = NewLedger()
		read, write := io.Pipe()
		done := make(chan error)
		h := s.Heading("v", "redlock")
		if part == 1 {
			heading = h
		}
		go func() {
			_, err := together.Read(read, heading.CheckJoins)
			done <- err
		}()
		if err := s.Ledger.WriteTo(write, &h); err != nil {
			t.Fatal(err)
		}
		find(t, s)
		write.Close()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	s := newSearch(3, 2, 1000, 2, broken)
	s.Ledger = together
	s.Ledger.SetComplete()
	onlyBases := true
	s.Runner = runs.RunnerFunc(func(_ context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		if len(w.Faults) > 0 {
			onlyBases = false
		}
		return runs.WorldResult{Off: runs.RunResult{Behaviour: 1}, On: runs.RunResult{Behaviour: 1}}, nil
	})
	merged := find(t, s)
	if !onlyBases {
		t.Error("a world that is in the ledger was run again")
	}
	if got, want := fmt.Sprintf("%+v\n%s", merged.result.Levels, groupIDs(merged)), fmt.Sprintf("%+v\n%s", whole.result.Levels, groupIDs(whole)); got != want {
		t.Errorf("the joined ledgers of the parts give:\n%s\nthe whole search finds:\n%s", got, want)
	}
}

// A search that is interrupted keeps what it has found.
func TestInterruptedSearch(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	n := 0
	s := newSearch(4, 2, 1000, 2, func(w runs.WorldSpec) []runs.Break {
		if countFaults(w, pausesClient) > 0 {
			return needsFencing
		}
		return nil
	})
	s.Watch = func(runs.WorldSpec, runs.WorldResult) {
		if n++; n == 200 {
			interrupt()
		}
	}
	runner := s.Runner
	s.Runner = runs.RunnerFunc(func(ctx context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		if err := ctx.Err(); err != nil {
			return runs.WorldResult{}, err
		}
		return runner.Run(ctx, w)
	})
	f, err := s.Find(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if f.Stopped() == "" || f.result.Worlds == 0 || f.result.Worlds >= 1000 || len(f.groups) == 0 {
		t.Errorf("stopped: %q, after %d worlds, with\n%s", f.Stopped(), f.result.Worlds, groupIDs(f))
	}
}

// If a world cannot be run, the search ends with the reason as its error.
func TestSearchThatFails(t *testing.T) {
	failure := errors.New("no such process")
	s := newSearch(3, 2, 100, 2, func(runs.WorldSpec) []runs.Break { return nil })
	s.Runner = runs.RunnerFunc(func(_ context.Context, w runs.WorldSpec) (runs.WorldResult, error) {
		if len(w.Faults) == 2 {
			return runs.WorldResult{}, failure
		}
		return runs.WorldResult{Off: runs.RunResult{Behaviour: 1}, On: runs.RunResult{Behaviour: 1}}, nil
	})
	if _, err := s.Find(t.Context()); !errors.Is(err, failure) {
		t.Errorf("the error is %v, want %v", err, failure)
	}
}

// If a pause alone breaks the lock, a pause together with other faults is nothing new, if
// the damage is the same.
func TestDropRedundant(t *testing.T) {
	r, _ := fakeBase{points: 1}.Record(t.Context(), 0)
	pause := item{Kind: "pause", Target: "client-1", For: time.Minute}.fault()
	down := item{Kind: "crash", Target: "redis-1", For: time.Second}.fault()
	newGroup := func(damage Damage, faults ...runs.Fault) *group {
		e := example{record: r, world: runs.WorldSpec{Faults: faults}, damage: damage}
		return &group{id: e.id(), best: e}
	}
	data := Harm{Fencing: runs.FencingOff, What: "no-lost-update"}
	fenced := Harm{Fencing: runs.FencingOn, What: "no-lost-update"}
	own := Harm{runs.FencingOff, "lease-exclusion", checks.BlameLock}
	for _, test := range []struct {
		name string
		all  []*group
		want string // the IDs of the groups that are left
	}{
		{"a part of the larger world does the same damage", []*group{newGroup(Damage{data}, pause), newGroup(Damage{data}, pause, down)}, "late-client"},
		{"the larger world does more damage", []*group{newGroup(Damage{data}, pause), newGroup(Damage{data, fenced}, pause, down)},
			"late-client forgetful-node+late-client/despite-fencing"},
		{"the damage of the larger world is the lock's fault", []*group{newGroup(Damage{data}, pause), newGroup(Damage{data, own}, pause, down)},
			"late-client forgetful-node+late-client/lock/between-steps+between-steps"},
		{"the smaller world is no part of the larger one", []*group{newGroup(Damage{data}, down), newGroup(Damage{data}, pause, pause)}, "forgetful-node late-client+late-client"},
	} {
		var left []string
		for _, g := range dropRedundant(test.all) {
			left = append(left, g.id)
		}
		if got := strings.Join(left, " "); got != test.want {
			t.Errorf("%s: the groups left are %s, want %s", test.name, got, test.want)
		}
	}
}

// The family of a crash depends on whether the crash can make the node forget something.
func TestFamilies(t *testing.T) {
	r, _ := fakeBase{points: 1}.Record(t.Context(), 0)
	for _, test := range []struct {
		fault runs.Fault
		disk  sim.Persistence
		want  family
	}{
		{item{Kind: "pause", Target: "client-1"}.fault(), "", lateClient},
		{item{Kind: "pause", Target: "client-1", How: "suspend"}.fault(), "", suspendedClient},
		{item{Kind: "pause", Target: "redis-1"}.fault(), "", unreachableNode},
		{item{Kind: "pause", Target: trace.StorageName}.fault(), "", lateClient},
		{item{Kind: "hold", Target: "client-1's write request to storage"}.fault(), "", lateClient},
		{item{Kind: "hold", Target: "redis-2's reply to client-1's acquire"}.fault(), "", unreachableNode},
		{item{Kind: "hold", Target: "client-1's request to redis-2, 3rd time"}.fault(), "", unreachableNode},
		{item{Kind: "reset", Target: "client-1", Others: []string{"redis-1"}}.fault(), "", unreachableNode},
		{item{Kind: "reset", Target: "client-1", Others: []string{trace.StorageName}}.fault(), "", lateClient},
		{item{Kind: "partition", Target: "client-1", Others: []string{"redis-1", "redis-2"}}.fault(), "", unreachableNode},
		{item{Kind: "partition", Target: "client-1", Others: []string{trace.StorageName}}.fault(), "", lateClient},
		{item{Kind: "delay", Target: "client-2", Others: []string{trace.StorageName}}.fault(), "", lateClient},
		{item{Kind: "stall", Target: "client-1", Step: trace.Write}.fault(), "", lateClient},
		{item{Kind: "fail", Target: "redis-1"}.fault(), "", unreachableNode},
		{item{Kind: "jump", Target: "redis-1", By: 1}.fault(), "", nodeClockForward},
		{item{Kind: "jump", Target: "redis-1", By: -1}.fault(), "", nodeClockBack},
		{item{Kind: "jump", Target: "client-1", By: 1}.fault(), "", clientClockForward},
		{item{Kind: "jump", Target: "client-1", By: -1}.fault(), "", clientClockBack},
		{item{Kind: "crash", Target: "client-1"}.fault(), "", deadClient},
		{item{Kind: "crash", Target: trace.StorageName}.fault(), "", lateClient},
		{item{Kind: "crash", Target: "redis-1"}.fault(), "", forgetfulNode},
		{item{Kind: "crash", Target: "redis-1", How: "shutdown"}.fault(), "", forgetfulNode},
		{item{Kind: "crash", Target: "redis-1"}.fault(), redis.Snapshots, forgetfulNode},
		{item{Kind: "crash", Target: "redis-1", How: "shutdown"}.fault(), redis.Snapshots, unreachableNode},
		{item{Kind: "crash", Target: "redis-1"}.fault(), redis.Everysec, unreachableNode},
		{item{Kind: "crash", Target: "redis-1", How: "power-loss"}.fault(), redis.Everysec, forgetfulNode},
		{item{Kind: "crash", Target: "redis-1", How: "power-loss"}.fault(), redis.Always, unreachableNode},
	} {
		if got := r.family(runs.WorldSpec{Change: diskChange("redis-1", test.disk)}, test.fault); got != test.want {
			t.Errorf("%s is of the family %s, want %s", test.fault, got, test.want)
		}
	}
}

// The lock is to blame for damage if it is to blame for any part of it.
func TestBlameAndGradeOfDamage(t *testing.T) {
	clock := checks.BlameAssumption(trace.AssumeClock)
	o := runs.WorldResult{
		Off: runs.RunResult{Breaks: []runs.Break{{What: "lease-exclusion", Blame: clock}, {What: "section-exclusion", Blame: clock}, {What: "no-lost-update"}}},
		On:  runs.RunResult{Breaks: []runs.Break{{What: "section-exclusion", Blame: checks.BlameInherent}}},
	}
	e := allDamage(o)
	if e.blame() != clock || e.grade() != gradeBroken {
		t.Errorf("%q: blame %q, grade %d", e, e.blame(), e.grade())
	}
	o.On.Breaks = append(o.On.Breaks, runs.Break{What: "serial-sections"})
	if g := allDamage(o).grade(); g != gradeBroken|gradeCorrupted {
		t.Errorf("data is corrupted with fencing: grade %d, want %d", g, gradeBroken|gradeCorrupted)
	}
	o.On.Breaks = append(o.On.Breaks, runs.Break{What: "progress", Blame: checks.BlameLock})
	if e := allDamage(o); e.grade() != gradeBroken|gradeCorrupted|gradeLockBlamed || e.blame() != checks.BlameLock {
		t.Errorf("%q: blame %q, grade %d", e, e.blame(), e.grade())
	}
	if e := allDamage(o); slices.Equal(e.core(), e) != true {
		t.Errorf("only progress is the lock's fault: the core is %q, want all damage", e.core())
	}
	o.Off.Breaks = append(o.Off.Breaks, runs.Break{What: "release-ownership", Blame: checks.BlameLock})
	if e := allDamage(o); len(e.core()) != len(e)-1 {
		t.Errorf("progress is a consequence of release-ownership: the core is %q, want all damage but progress", e.core())
	}
}
