package suites

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// CheckExpectations tests that every scenario gives the result that it expects, whatever
// the latencies are, with each lock for which it has an expectation. It also tests that
// different seeds give different latencies: the first [hashedSeeds] seeds must give at
// least half as many different runs. With other locks than its own, a scenario runs on a
// tenth of the seeds, but at least on 10. With -short it runs on one seed.
//
// If a storage with fencing refuses nothing, it answers like a storage without fencing, so
// the run without fencing is the same run. CheckExpectations checks that on the first
// [hashedSeeds] seeds, and runs only with fencing on the other seeds.
func CheckExpectations(t *testing.T, seeds uint64, has LockFilter) {
	if testing.Short() {
		seeds = 1
	}
	for _, s := range scenarios.Embedded() {
		with := locksWithExpectation(s, has)
		if len(with) == 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, lock := range with {
				seeds := seeds
				if lock != "" {
					seeds = max(seeds/10, min(seeds, 10))
				}
				for _, v := range s.Variants {
					checkVariant(t, v, lock, seeds)
				}
			}
		})
	}
}

// hashedSeeds is the number of seeds whose traces are compared with each other. More would
// cost time and show nothing new: if seeds had no effect, the first ones would show it, and
// computing a hash takes a tenth of the time that a run takes.
const hashedSeeds = 20

// checkVariant tests a variant with one lock on some seeds; "" is the variant's own lock.
func checkVariant(t *testing.T, v *scenarios.Variant, lock string, seeds uint64) {
	hashes := map[string]map[string]bool{scenarios.Off: {}, scenarios.On: {}}
	expectedOff, expectsOff := v.Expectation(lock, scenarios.Off)
	expectedOn, expectsOn := v.Expectation(lock, scenarios.On)
	if lock != "" && !expectsOff && !expectsOn {
		return // the scenario expects something of this lock only in other variants
	}
	equalExpectations := reflect.DeepEqual(expectedOff, expectedOn) // if they differ, one run cannot meet both
	for seed := range seeds {
		on := runAsExpected(t, v, lock, seed, scenarios.On)
		isSameRun := on != nil && refusesOnlyLateWrites(t, v, lock) && !slices.ContainsFunc(on.History.ServedRequests(), func(ev *trace.Event) bool { return !ev.OK })
		if isSameRun && equalExpectations && seed >= hashedSeeds {
			continue
		}
		off := runAsExpected(t, v, lock, seed, scenarios.Off)
		if on == nil || off == nil || seed >= hashedSeeds {
			continue
		}
		if isSameRun && !reflect.DeepEqual(on.History.Trace.Events, off.History.Trace.Events) {
			t.Errorf("%s, lock %s, seed %d: fencing refuses nothing, but the run differs from the run without fencing", v.Name, on.Lock, seed)
		}
		for _, run := range []*scenarios.RunResult{off, on} {
			hashes[run.Fencing][run.History.Trace.Hash()] = true
		}
	}
	for fencing, hashes := range hashes {
		if hashed := min(seeds, hashedSeeds); uint64(len(hashes)) < (hashed+1)/2 {
			t.Errorf("%s, fencing %s, lock %s: %d seeds gave only %d different traces", v.Name, fencing, cmp.Or(lock, v.Lock), hashed, len(hashes))
		}
	}
}

// refusesOnlyLateWrites reports whether fencing has only one effect on a run: the storage refuses
// the writes of older grants. That is false in three cases. Clients may ask a token source for
// tokens. A transaction may take the place of fencing. Or a copy of the storage may take over, and
// the trace then has events about the tokens that the copy lacks.
func refusesOnlyLateWrites(t *testing.T, v *scenarios.Variant, lock string) bool {
	config, err := v.Config(scenarios.Options{Lock: lock, Fencing: scenarios.On})
	if err != nil {
		t.Fatal(err)
	}
	return config.Tokens.Source.Name == "" && config.Storage.Fencing == storage.Writes && config.Storage.CopyLag == 0
}

// runAsExpected runs a variant and fails the test if the result is not the expected one. It
// returns the result, or nil if the run failed.
func runAsExpected(t *testing.T, v *scenarios.Variant, lock string, seed uint64, fencing string) *scenarios.RunResult {
	name := fmt.Sprintf("%s, fencing %s, lock %s, seed %d", v.Name, fencing, cmp.Or(lock, v.Lock), seed)
	run, err := v.Run(scenarios.RunOptions{Seed: seed, Lock: lock}, fencing)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil
	}
	if lock == "" && run.Expected == nil {
		t.Errorf("%s: the scenario has no expectation for it", name)
	}
	if len(run.Differences) > 0 {
		t.Errorf("%s:\n%s", name, fmt.Sprint(append(run.Differences, run.Verdict.Reasons...)))
	}
	return &run
}

// locksWithExpectation lists the locks with which a scenario is tested, because it has an
// expectation for them and has selects them; "" means the own lock of each variant. It
// lists "" if has selects the own lock of at least one variant and this program can make
// the own locks of all variants. So a scenario with a library's lock in one variant is
// tested together with the other locks of that library.
func locksWithExpectation(s *scenarios.Scenario, has LockFilter) []string {
	var found []string
	about := func(v *scenarios.Variant) bool { return has.matchesName(v.Lock) }
	lacks := func(v *scenarios.Variant) bool { return !LockFilter(Provided).matchesName(v.Lock) }
	isOwnLockTested := slices.ContainsFunc(s.Variants, about) && !slices.ContainsFunc(s.Variants, lacks)
	if isOwnLockTested {
		found = append(found, "")
	}
	for _, name := range locks.Names() {
		if has.matchesName(name) && slices.ContainsFunc(s.Variants, func(v *scenarios.Variant) bool {
			_, off := v.Expectation(name, scenarios.Off)
			_, on := v.Expectation(name, scenarios.On)
			return name != v.Lock && (off || on)
		}) {
			found = append(found, name)
		}
	}
	return found
}

// CheckEveryFaultMatters tests that each fault of a scenario is needed. Without the fault, a
// witness (a precondition of the verdict, see [trace.Witness]) must be missing, because otherwise
// the run could be mistaken for a run of the scenario. Also, other properties must be violated
// without the fault than with it, because the scenario is about this fault. The second condition
// does not apply to a scenario that shows that something holds.
func CheckEveryFaultMatters(t *testing.T, has LockFilter) {
	for _, s := range scenarios.Embedded() {
		for _, v := range s.Variants {
			if !has.matchesName(v.Lock) {
				continue
			}
			allFaults, err := v.Config(scenarios.Options{Seed: 1, Fencing: scenarios.Off})
			if err != nil {
				t.Fatal(err)
			}
			for i := range allFaults.Faults {
				t.Run(fmt.Sprintf("%s %s without fault %d", s.Name, v.Name, i+1), func(t *testing.T) {
					t.Parallel()
					matters := false
					for _, fencing := range []string{scenarios.Off, scenarios.On} {
						oneLess, err := v.Config(scenarios.Options{Seed: 1, Fencing: fencing})
						if err != nil {
							t.Fatal(err)
						}
						oneLess.Faults = slices.Delete(slices.Clone(oneLess.Faults), i, i+1)
						tr := simtest.RunWorld(t, oneLess)
						if !slices.ContainsFunc(v.Witnesses, func(w trace.Witness) bool { return !history.WasSeen(w, tr) }) {
							t.Errorf("fencing %s: every witness is still seen", fencing)
						}
						expected, ok := v.Expectation("", fencing)
						matters = matters || !ok || !slices.Equal(violated(checks.Check(history.New(tr), nil), expected), sortedCopy(expected.Violated))
					}
					if !matters && !isControl(v) {
						t.Error("the same properties are violated")
					}
				})
			}
		}
	}
}

// violated lists the properties that a run violates. It leaves out a violation that does
// not count (see [checks.Finding.Counts]), unless the scenario expects it.
func violated(v *checks.Verdict, expected scenarios.Expectation) []checks.Property {
	var broken []checks.Property
	for _, f := range v.Findings {
		if f.Counts() || f.Outcome == checks.Violated && slices.Contains(expected.Violated, f.Property) {
			broken = append(broken, f.Property)
		}
	}
	return sortedCopy(broken)
}

// sortedCopy returns a sorted copy of the properties.
func sortedCopy(properties []checks.Property) []checks.Property {
	properties = slices.Clone(properties)
	slices.Sort(properties)
	return properties
}

// isControl reports whether a variant shows that something holds. In such a variant no
// assumption breaks, or nothing is violated with or without fencing.
func isControl(v *scenarios.Variant) bool {
	off, _ := v.Expectation("", scenarios.Off)
	on, _ := v.Expectation("", scenarios.On)
	return v.Assumption == "none" || len(off.Violated)+len(on.Violated) == 0
}
