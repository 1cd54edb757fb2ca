package libraries_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// A search has a workload in which clients extend their leases. If a lock's leases cannot
// be extended, that workload is left out.
func TestWorkloadWithExtensionsIsLeftOut(t *testing.T) {
	bases := explore.Lock{Name: "rueidislock", Extends: true, Seed: 1}.Bases(explore.Kinds{})
	l := explore.NewLocal(bases, 10*time.Second)
	var took []string
	for base := range bases {
		r, err := explore.Records{Bases: bases, Backend: l}.Record(t.Context(), base)
		if err != nil {
			t.Fatal(err)
		}
		if r.CanExplore() {
			took = append(took, r.Name)
		}
	}
	if !slices.Equal(took, []string{"contend", "replicated"}) {
		t.Errorf("the workloads of the search are %q, want contend and replicated", took)
	}
}

// A lock of one's own can be explored on every system: each world of the search can be
// configured, also those in which a server writes to its disk in another way.
func TestSearchFitsEverySystem(t *testing.T) {
	for _, name := range []string{locks.Redis, locks.Etcd, locks.ZooKeeper, locks.Consul, locks.Postgres, locks.SQLite, locks.Kubernetes} {
		t.Run(name, func(t *testing.T) {
			system, _ := sim.LookupSystem(name)
			bases, local := basesOn(t, name)
			changed := map[string]bool{}
			for base := range bases {
				r, err := explore.Records{Bases: bases, Backend: local}.Record(t.Context(), base)
				if err != nil || !r.CanExplore() {
					t.Fatalf("%s: the record is %+v, error %v", bases[base].Name, r, err)
				}
				for _, w := range r.Singles() {
					if _, err := local.Config(w, runs.FencingOff); err != nil {
						t.Fatalf("%s: %+v: %v", bases[base].Name, w, err)
					}
					for _, disk := range w.Change.Persistence {
						changed[string(disk)] = true
					}
				}
			}
			if want := len(system.Persistences()); len(changed) != want {
				t.Errorf("the search tries %d ways to write to a disk, want %d", len(changed), want)
			}
		})
	}
}

// basesOn returns the workloads of a search for a lock that is not registered, and a runner
// of worlds on them. The lock is the one that locktest.Explore would take for the text of
// its workloads.
func basesOn(t *testing.T, system string) ([]explore.Base, *runs.Local) {
	t.Helper()
	l := explore.Lock{Name: explore.RegisteredOn(system), Seed: 1}
	kind, ok := locks.Lookup(l.Name)
	if !ok || kind.System != system {
		t.Fatalf("the registered lock on %s is %s, on %s", system, l.Name, kind.System)
	}
	l.Kind, l.Kind.Name = kind, "mine"
	bases := l.Bases(explore.Kinds{})
	return bases, explore.NewLocal(bases, 10*time.Second)
}

// A search has faults of limited length. With most locks, another client acquires the lock
// of a crashed holder before the longest of these faults ends. The test lists the
// exceptions.
func TestTakeovers(t *testing.T) {
	got := map[string]time.Duration{}
	for _, name := range locks.Names() {
		l := explore.NewLocal(explore.Lock{Name: name, Extends: true, Seed: 1}.Bases(explore.Kinds{}), 10*time.Second)
		after, err := explore.Takeover(t.Context(), l)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if after > 0 {
			got[name] = after
		}
	}
	// With Consul, a session ends after twice its TTL, and then a lock-delay of 15 s
	// follows. The holders of a semaphore are listed in another key, which has no
	// lock-delay.
	want := map[string]time.Duration{
		"consul": 75 * time.Second, "consul-lockindex": 75 * time.Second, "consul-patient": 75 * time.Second, "consul-semaphore": time.Minute,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// consul/api's Lock does not notice the loss of the lock while its client is cut off
// (hashicorp/consul 18271). A search finds this by itself. Faults of the usual lengths, up
// to twice the TTL, end before another client holds the lock, so the search needs longer
// ones.
func TestConsulsLossUnnoticed(t *testing.T) {
	cutOff := explore.Kinds{Only: []string{"partition"}}
	l := explore.Lock{Name: "consul", Extends: true, Seed: 1}
	if found := lockFaultWorlds(t, l, cutOff); len(found) > 0 {
		t.Errorf("found with faults of up to twice the TTL: %+v", found)
	}
	l.Takeover = 75 * time.Second
	worlds := lockFaultWorlds(t, l, cutOff)
	if len(worlds) == 0 {
		t.Fatal("the search finds no world in which the lock is to blame")
	}
	local := explore.NewLocal(l.Bases(cutOff)[1:], 10*time.Second)
	for _, w := range worlds {
		cfg, err := local.Config(w, runs.FencingOff)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := sim.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		h := history.New(tr)
		cut, first, second := h.Acts()[0], h.Sections()[0], h.Sections()[1]
		if first.Client != "client-1" || second.Client != "client-2" || first.To.At < second.Granted.At {
			t.Errorf("%v: the sections do not overlap", w.Faults)
		}
		if notified := first.Lost; notified != nil && (cut.Lifted == nil || notified.At < cut.Lifted.At || notified.At < second.Granted.At) {
			t.Errorf("%v: the holder is notified of the loss while it is cut off, or before the next grant", w.Faults)
		}
	}
}

// lockFaultWorlds returns worlds of the workload extend with one fault each. They are those
// in which two clients work at the same time and the lock itself is to blame.
func lockFaultWorlds(t *testing.T, l explore.Lock, kinds explore.Kinds) (worlds []runs.WorldSpec) {
	t.Helper()
	bases := l.Bases(kinds)[1:]
	local := explore.NewLocal(bases, 10*time.Second)
	search := explore.Search{
		Bases: bases, MaxFaults: 1, Kinds: kinds, Jobs: 1, Runner: local, Records: explore.Records{Bases: bases, Backend: local},
		Watch: func(w runs.WorldSpec, o runs.WorldResult) {
			if slices.ContainsFunc(o.Off.Breaks, func(b runs.Break) bool {
				return b.Blame == checks.BlameLock && b.What == string(checks.SectionExclusion)
			}) {
				worlds = append(worlds, w)
			}
		},
	}
	if _, err := search.Find(t.Context()); err != nil {
		t.Fatal(err)
	}
	return worlds
}
