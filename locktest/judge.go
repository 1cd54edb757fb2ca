package locktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A problem is something that fails the lock.
type problem struct {
	// Rule is the property that is violated, the claim that is not kept, or what
	// the lock must not do.
	Rule string
	// Why is one sentence.
	Why string
	// Lines are the lines of the timeline that matter, or a stack.
	Lines   string
	Address address
}

// What a lock must not do, whatever it claims.
const (
	rulePanic   = trace.ConductPanic
	ruleHang    = trace.ConductHang
	ruleEndless = trace.ConductEndless
	ruleMake    = "cannot be made"
	ruleError   = "error" // the world cannot be run
	ruleAssert  = "conformance"
)

// The claims of a Config.
const (
	claimExtends  = "claim: extends"
	claimNotifies = "claim: notifies"
	claimTokens   = "claim: tokens"
)

// A verdict is what one world says of the lock.
type verdict struct {
	problems []problem
	// excused are the violations that are not the lock's.
	excused []excuse
	// data is what became of the data: safe, unsafe or unknown, and then why.
	data    string
	reasons []string
	// untold says that the world has nothing to say of the lock.
	untold string
	// share is the part of the story's latencies that its messages took, 1 of so many.
	share time.Duration
	// releases counts those of the run.
	releases releases
	// history is what happened; nil if the world could not be run.
	history *history.History
	// broken says that this process cannot be relied on any more.
	broken bool
}

// An excuse is a property that is violated, and whose fault that is if not the lock's.
type excuse struct {
	Property checks.Property
	Fault    checks.Blame
}

func (e excuse) String() string { return string(e.Property) + ": " + e.Fault.String() }

// tell runs a world and judges it.
func (s *subject) tell(p address, w world) verdict {
	config, share, err := s.pace(w.config)
	var tr *trace.Trace
	if err == nil {
		tr, err = sim.RunPatiently(config, s.config.Patience)
	}
	var h *history.History
	if tr != nil {
		h = history.Of(tr)
	}
	v := s.judge(p, w, h, err)
	v.share = share
	return v
}

// judge judges what came of a world.
func (s *subject) judge(p address, w world, h *history.History, err error) verdict {
	v := verdict{data: checks.Undecided, history: h}
	blame := func(rule, why, lines string) { v.problems = append(v.problems, problem{rule, why, lines, p}) }
	if errors.Is(err, sim.ErrLate) && !errors.Is(err, sim.ErrHeavy) {
		v.reasons = append(v.reasons, err.Error()) // it is this machine's doing
		return v
	}
	if err != nil {
		rule := sim.Conduct(err)
		if rule == "" {
			v.reasons = append(v.reasons, err.Error())
			blame(ruleError, "the world cannot be run: "+err.Error(), "")
			return v
		}
		why, stacks := sim.WithoutStacks(err)
		blame(rule, why, ownStacks(stacks))
		v.broken = errors.Is(err, sim.ErrStuck)
	}
	if h == nil {
		return v
	}
	for _, f := range h.Trace.Faults {
		if f.Moot {
			v.untold = f.Text + ": " + f.Idle
			v.problems = nil
			return v
		}
	}
	if v.untold = refusal(s, w, h); v.untold != "" {
		v.problems = nil
		return v
	}
	v.releases = releasesIn(h)
	judged := checks.Check(v.history, w.seen(v.history.Trace))
	v.data = judged.Verdict
	// How the world ended is a problem, and no doubt of what had happened before.
	doubts := slices.DeleteFunc(judged.Reasons, checks.Reason.IsEnding)
	for _, reason := range doubts {
		v.reasons = append(v.reasons, voice.Told(reason).String())
	}
	for _, f := range judged.Findings {
		switch {
		case f.Outcome != checks.Violated:
		case f.Property == checks.Progress && len(doubts) > 0:
			// The story has not come about, and may be what keeps everybody waiting.
		case f.Fault == checks.FaultLock:
			blame(string(f.Property), voice.Told(f.Reason).String(), excerpt(h, f.Events))
		case !f.Fault.IsZero():
			v.excused = append(v.excused, excuse{f.Property, f.Fault})
		}
	}
	for _, find := range rules {
		if rule, why, at := find(s, w, v.history); rule != "" {
			blame(rule, why, excerpt(h, at))
		}
	}
	v.problems = withoutConsequences(v.problems)
	return v
}

// rules are those that a lock must keep besides the properties of package checks. Each
// finds where a run breaks it, in the events at; a rule that is "" is kept.
var rules = []func(s *subject, w world, h *history.History) (rule, why string, at []int){
	unmade, unasserted, unreturned, breathless, unclaimed, unnotified, growing, lingering, left, misanswered,
	ownKey, unreleased, abandoned, mute,
}

// withoutConsequences leaves out what follows from another problem: of a lock that
// panics, or whose call never returns, nothing else can be expected.
func withoutConsequences(problems []problem) []problem {
	for _, cause := range []string{rulePanic, ruleHang, ruleMake} {
		for _, p := range problems {
			if p.Rule == cause {
				return []problem{p}
			}
		}
	}
	return problems
}

// ownStacks leaves out, of the stacks of goroutines, those of the simulator itself.
func ownStacks(stacks string) string {
	all := strings.Split(strings.TrimSpace(stacks), "\n\n")
	return strings.Join(slices.DeleteFunc(all, func(stack string) bool {
		return strings.Contains(stack, "testing/synctest.testingSynctestTest(") || strings.Contains(stack, "sim.(*World).end(")
	}), "\n\n")
}

// excerpt is what the timeline says of some events.
func excerpt(h *history.History, events []int) string {
	return reports.Timeline{}.Excerpt(h, events)
}

// unmade: a lock that could not be made.
func unmade(_ *subject, _ world, h *history.History) (rule, why string, at []int) {
	for _, c := range h.Trace.Complaints {
		if c.Rule == trace.CannotMake {
			return ruleMake, c.Client + ": " + c.Why, nil
		}
	}
	return "", "", nil
}

// unasserted: a program that asks something of the lock and does not get it.
func unasserted(_ *subject, w world, h *history.History) (rule, why string, at []int) {
	if !w.asserts {
		return "", "", nil
	}
	for _, ev := range h.Ended() {
		rule, why := ruleAssert, ev.Text
		for _, c := range h.Trace.Complaints {
			if c.Client == ev.Process {
				rule, why = c.Rule, c.Why
			}
		}
		if !ev.OK && rule != trace.CannotMake {
			return rule, ev.Process + ": " + why, lastAsked(h, ev.Process)
		}
	}
	return "", "", nil
}

// lastAsked is a client's last call of acquire or extend, and the ends of that and of
// what the lock has prolonged by itself since.
func lastAsked(h *history.History, client string) (at []int) {
	for _, c := range h.Calls() {
		if c.Client != client || c.Step != trace.Acquire && c.Step != trace.Extend {
			continue
		}
		if c.Began != nil {
			at = []int{c.Began.Seq}
		}
		if c.Ended != nil {
			at = append(at, c.Ended.Seq)
		}
	}
	return at
}

// longest is how long a call of the lock may go on once no fault acts any more.
const longest = time.Minute

// unreturned: a call of the lock that does not return though nothing is wrong any
// more, while others do not hold the lock either. An acquire that waits its turn, while
// a grant stands that nobody uses, does what it must: then it is who has left the grant
// there that keeps everybody from getting on.
func unreturned(_ *subject, _ world, h *history.History) (rule, why string, at []int) {
	over := h.Horizon()
	if over == nil {
		return "", "", nil
	}
	calm, ever := h.Quiet(history.MomentOf(over))
	if !ever {
		return "", "", nil
	}
	before := func(ev *trace.Event) bool { return ev != nil && ev.Seq < over.Seq }
	for _, p := range h.Trace.Processes {
		fate, _ := h.Fate(p.Name)
		for _, c := range h.Calls() {
			switch {
			case c.Client != p.Name || c.Began == nil || before(c.Ended) || before(fate):
			case c.Step.AtStorage() || c.Step == trace.Work || over.At-max(c.Began.At, calm.At) < longest:
			case c.Step == trace.Acquire && taken(h, c.Lock, history.MomentOf(over)): // it waits for its turn
			case c.Step == trace.Acquire && granted(h, c.Lock, history.MomentOf(over)):
				return string(checks.Progress), fmt.Sprintf("%s called %s at %s and still waited at %s, while a grant stood that nobody used", p.Name, c.Step, voice.Time(c.Began.At), voice.Time(over.At)), []int{c.Began.Seq, over.Seq}
			default:
				return ruleHang, fmt.Sprintf("%s called %s at %s and still waited at %s", p.Name, c.Step, voice.Time(c.Began.At), voice.Time(over.At)), []int{c.Began.Seq, over.Seq}
			}
		}
	}
	return "", "", nil
}

// taken says that a client is in a section of a lock at a moment.
func taken(h *history.History, lock string, at history.Moment) bool {
	return slices.ContainsFunc(h.Sections(), func(s *history.Section) bool { return s.Lock == lock && s.From.Before(at) && !s.To.Before(at) })
}

// granted says that a grant of a lock stands at a moment, by its keys.
func granted(h *history.History, lock string, at history.Moment) bool {
	count := map[history.Acquisition]int{}
	for _, k := range h.Holdings() {
		if h.Slots(lock).Has(k.Place) && k.Withheld().Has(at) {
			if count[k.Owner]++; count[k.Owner] >= h.Lock(lock).Quorum {
				return true
			}
		}
	}
	return false
}

// unclaimed: a grant without what the lock claims for each.
func unclaimed(s *subject, w world, h *history.History) (rule, why string, at []int) {
	for _, in := range h.Sections() {
		switch ev := in.Granted; {
		case s.config.Tokens && !ev.Minted && w.config.Tokens.Source.Name == "":
			return claimTokens, in.Client + " was granted the lock without a fencing token", []int{ev.Seq}
		case s.config.Notifies && !ev.Notifies:
			return claimNotifies, in.Client + " was given a lease that cannot tell of its loss", []int{ev.Seq}
		}
	}
	return "", "", nil
}
