package exercises

import (
	"embed"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A Scenario is an exercise in YAML.
type Scenario struct {
	// File is the name of the file that the reader changes.
	File, Title string
	// Lesson says why a solution works.
	Lesson string
	check  func(s *scenarios.Scenario, seeds []uint64) (*Failure, error)
}

// scenarioExercises are the exercises in YAML, in the order in which README.md has them.
var scenarioExercises = []Scenario{
	{
		"policy.yaml", "repair the policy of the storage",
		"With this policy a read carries the token, too. So the storage knows the newer holder as soon as that one has read, and refuses the late write, although the newer holder has not written yet.",
		checkPolicy,
	},
	{
		"pause.yaml", "find the smallest pause that does harm",
		"client-1's key expires one TTL after its acquire, and client-2, which asks once a second, gets the lock at its next attempt. A pause that is shorter ends before that, and then client-1 still writes first.",
		checkPause,
	},
	{
		"redlock.yaml", "break Redlock with one fault",
		"A lease ends by a clock of client-1, and its keys end by the clocks of the nodes. If the client's clock counts less time than passes, the keys are gone while client-1 still believes in its lease. A majority of nodes does not help: all of them are right.",
		checkBrokenRedlock,
	},
	{
		"in-vain.yaml", "write a story in which fencing does not help",
		"A storage can refuse a late write only if it knows a newer token. Here it knew none when the late write came, so it had no reason to refuse it.",
		checkInVain,
	},
}

// ScenarioNames lists the files of the exercises in YAML.
func ScenarioNames() string {
	var names []string
	for _, s := range scenarioExercises {
		names = append(names, s.File)
	}
	return strings.Join(names, ", ")
}

// FindScenario returns the exercise that belongs to a file of some name.
func FindScenario(file string) (Scenario, error) {
	for _, s := range scenarioExercises {
		if s.File == file {
			return s, nil
		}
	}
	return Scenario{}, fmt.Errorf("there is no exercise %s; the exercises are %s", file, ScenarioNames())
}

// Check returns why a scenario does not solve the exercise; nil if it does. The seeds of the
// runs depend on the text of the scenario.
func (e Scenario) Check(s *scenarios.Scenario) (*Failure, error) {
	if len(s.Variants) > 1 {
		return &Failure{Why: "The file has several variants; leave one."}, nil
	}
	sum := fnv.New64a()
	sum.Write([]byte(s.Text))
	var seeds []uint64
	for i := range uint64(8) {
		seeds = append(seeds, sum.Sum64()%900_000+1+i)
	}
	failure, err := e.check(s, seeds)
	if failure != nil && strings.TrimSpace(s.Text) == strings.TrimSpace(base(e.File).Text) {
		failure.Hint = "this is the file as learn new has written it. Run it, and change something; after that, the check has a hint for you"
	}
	return failure, err
}

// policyFiles has the worlds in which a storage's policy is tried.
//
//go:embed _policies
var policyFiles embed.FS

// policyWorlds names the worlds of policyFiles, each with the number of writes that the storage
// must apply, by client: those of clients that hold the lock when they write.
var policyWorlds = []struct {
	name   string
	writes map[string]int
}{
	{"in-turn", map[string]int{"client-1": 4, "client-2": 4}},
	{"late-write", map[string]int{"client-2": 1}},
	{"write-between", map[string]int{"client-2": 1}},
	{"storage-restarts", map[string]int{"client-2": 1}},
	{"stalled-write", map[string]int{"client-2": 1}},
	{"two-objects", map[string]int{"client-2": 1}},
	{"lost-token", map[string]int{"client-2": 1}},
}

// checkPolicy tries the policy of a scenario's storage in other worlds.
func checkPolicy(s *scenarios.Scenario, seeds []uint64) (*Failure, error) {
	const hint = "ask what the storage knows of the newer holder when the late write arrives, and what it still knows after a restart. A policy that refuses a holder's own requests protects nothing"
	config, err := s.Variants[0].Config(scenarios.Options{Seed: 1, Fencing: scenarios.On})
	if err != nil {
		return nil, err
	}
	for _, w := range policyWorlds {
		text, err := policyFiles.ReadFile("_policies/" + w.name + ".yaml")
		if err != nil {
			panic(err) // impossible: the file is part of the program
		}
		base, err := scenarios.Parse(w.name+".yaml", text)
		if err != nil {
			panic(err) // impossible: a test parses it
		}
		for _, seed := range seeds[:2] {
			run, why, err := runWith(base, seed, scenarios.On, "storage.fencing="+string(config.Storage.Fencing))
			if err != nil {
				return nil, err
			}
			if why != "" {
				return &Failure{Why: "The policy cannot be used: " + sentence(why), Hint: hint}, nil
			}
			f := &Failure{World: base.Title, Hint: hint}
			if violation := dataViolation(run); violation != nil {
				f.Why = fmt.Sprintf("With the policy %s, the data is damaged in another world.", config.Storage.Fencing)
				f.Example = sentence(string(story.RenderReasons(violation.Reason)))
				f.Lines = reports.Timeline{}.Excerpt(run.History, withFaults(run.History, violation))
				return f, nil
			}
			for _, client := range []string{"client-1", "client-2"} {
				if applied := appliedWrites(run.History, client); applied < w.writes[client] {
					f.Why = fmt.Sprintf("With the policy %s, the storage applies %d of %d writes of %s, which holds the lock.",
						config.Storage.Fencing, applied, w.writes[client], client)
					f.Lines = reports.Timeline{}.Excerpt(run.History, refusals(run.History, client))
					return f, nil
				}
			}
		}
	}
	return nil, nil
}

// runWith runs a scenario with some overrides. why is not "" if the scenario cannot have
// them.
func runWith(s *scenarios.Scenario, seed uint64, fencing string, overrides ...string) (run scenarios.RunResult, why string, err error) {
	changed, err := s.With(overrides...)
	if err != nil {
		return run, err.Error(), nil
	}
	run, err = changed.Variants[0].Run(scenarios.RunOptions{Seed: seed, Patience: patience}, fencing)
	return run, "", err
}

// dataViolation returns the first violation that damages the data; nil if there is none.
func dataViolation(run scenarios.RunResult) (first *checks.Finding) {
	for i, f := range run.Verdict.Findings {
		if f.Outcome == checks.Violated && f.Property.Card().Subject == checks.SubjectData && (first == nil || f.At < first.At) {
			first = &run.Verdict.Findings[i]
		}
	}
	return first
}

// appliedWrites counts the writes of a client that the storage has applied.
func appliedWrites(h *history.History, client string) (n int) {
	for _, v := range h.Versions() {
		if v.Made != nil && v.Made.Client() == client {
			n++
		}
	}
	return n
}

// refusals returns the events with which the storage refused a client's requests.
func refusals(h *history.History, client string) (events []int) {
	for _, ev := range h.ServedRequests() {
		if ev.Client() == client && ev.Refused {
			events = append(events, ev.Seq)
		}
	}
	return events
}

// base returns the scenario of an exercise as the reader has got it.
func base(file string) *scenarios.Scenario {
	text, err := moduleFiles.ReadFile("_module/" + file)
	if err != nil {
		panic(err) // impossible: the file is part of the program
	}
	s, err := scenarios.Parse(file, text)
	if err != nil {
		panic(err) // impossible: a test parses it
	}
	return s
}

// checkBrokenRedlock runs the exercise's own world with the one fault of the scenario.
func checkBrokenRedlock(s *scenarios.Scenario, seeds []uint64) (*Failure, error) {
	const hint = "a lease is a time by the client's clock, and a key's time to live is a time by a node's clock. Which one fault makes a clock of client-1 count less time than passes?"
	config, err := s.Variants[0].Config(scenarios.Options{Seed: 1, Fencing: scenarios.Off})
	if err != nil {
		return nil, err
	}
	switch {
	case len(config.Faults) != 1:
		return &Failure{Why: fmt.Sprintf("The scenario has %s, and should have one.", story.Count(len(config.Faults), "fault")), Hint: hint}, nil
	case config.Faults[0].Kind() == "revoke":
		return &Failure{Why: "An operator who deletes the keys breaks every lock; write another fault.", Hint: hint}, nil
	}
	override := "faults=[" + scenarios.FaultFields(config.Faults[0]).String() + "]"
	for _, seed := range seeds {
		run, why, err := runWith(base("redlock.yaml"), seed, scenarios.Off, override)
		if err != nil {
			return nil, err
		}
		f := &Failure{Hint: hint}
		switch finding := run.Verdict; {
		case why != "":
			f.Why = "The fault cannot be used in the scenario of the exercise: " + sentence(why)
		case finding.Finding(checks.LeaseExclusion).Outcome == checks.Violated:
			continue
		case len(finding.Reasons) > 0:
			f.Why = "The run shows nothing: " + sentence(string(story.RenderReasons(finding.Reasons[0])))
		case finding.Finding(checks.SectionExclusion).Outcome == checks.Violated:
			f.Why = "A client works past the end of its lease, but no two leases overlap: the lock has kept its promise."
			f.Lines = reports.Timeline{}.Excerpt(run.History, finding.Finding(checks.SectionExclusion).Events)
		default:
			f.Why = fmt.Sprintf("No two clients hold the lock at the same time, with seed %d.", seed)
			f.Lines = reports.Timeline{}.Excerpt(run.History, grants(run.History))
		}
		return f, nil
	}
	return nil, nil
}

// grants returns the events with which clients got the lock, and lost or released it.
func grants(h *history.History) (events []int) {
	for _, s := range h.Sections() {
		events = append(events, s.Granted.Seq)
		if s.Released != nil {
			events = append(events, s.Released.Seq)
		}
	}
	slices.Sort(events)
	return events
}

// checkInVain runs the reader's story with a storage that checks the token of every write.
func checkInVain(s *scenarios.Scenario, seeds []uint64) (*Failure, error) {
	const hint = "the storage refuses a write whose token is lower than one that it has seen in a write. When has it not seen the newer holder's token yet?"
	fail := func(why string) (*Failure, error) { return &Failure{Why: why, Hint: hint}, nil }
	config, err := s.Variants[0].Config(scenarios.Options{Seed: 1, Fencing: scenarios.On})
	if err != nil {
		return nil, err
	}
	switch kind := config.Lock.Kind.Name; {
	case kind != "single" && kind != "redlock":
		return fail(fmt.Sprintf("The lock is %s; use single or redlock.", kind))
	case len(config.Lock.Options.Without) > 0:
		return fail("The lock lacks " + strings.Join(config.Lock.Options.Without, ", ") + "; use it with all its features.")
	case config.Tokens.Source.Name != "":
		return fail("The tokens come from " + config.Tokens.Source.Name + "; leave the field tokens out.")
	case slices.ContainsFunc(config.Faults, func(f sim.Fault) bool { return f.Kind() == "revoke" }):
		return fail("An operator who deletes the lock's keys breaks every lock; write another fault.")
	}
	for _, seed := range seeds {
		run, why, err := runWith(s, seed, scenarios.On, "storage.fencing=writes")
		if err != nil {
			return nil, err
		}
		switch h := run.History; {
		case why != "":
			return fail("The storage of the scenario cannot check writes: " + sentence(why))
		case len(run.Verdict.Reasons) > 0:
			return fail("The run shows nothing: " + sentence(string(story.RenderReasons(run.Verdict.Reasons[0]))))
		case run.Verdict.Verdict != checks.Unsafe:
			f := &Failure{Why: fmt.Sprintf("With fencing the data stays right, with seed %d.", seed), Hint: hint}
			f.Lines = reports.Timeline{}.Excerpt(h, decisions(h))
			return f, nil
		case len(writers(h)) < 2:
			return fail("Two clients must get the lock and write; here " + story.Count(len(writers(h)), "client") + " did.")
		}
	}
	return nil, nil
}

// decisions returns the events with which the storage applied or refused writes.
func decisions(h *history.History) (events []int) {
	for _, ev := range h.ServedRequests() {
		if ev.Step == trace.Write {
			events = append(events, ev.Seq)
		}
	}
	return events
}

// writers returns the clients whose writes the storage has applied, each once.
func writers(h *history.History) (names []string) {
	for _, v := range h.Versions() {
		if v.Made == nil {
			continue
		}
		if client := v.Made.Client(); !slices.Contains(names, client) {
			names = append(names, client)
		}
	}
	return names
}
