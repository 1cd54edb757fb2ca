package locktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
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
	Lines string
	Place place
}

// What a lock must not do, whatever it claims.
const (
	rulePanic   = sim.ConductPanic
	ruleHang    = sim.ConductHang
	ruleEndless = sim.ConductEndless
	ruleMake    = "cannot be made"
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
	// excused are the violations that are not the lock's, "PROPERTY: whose fault".
	excused []string
	// data is what became of the data: safe, unsafe or unknown, and then why.
	data    string
	reasons []string
	// untold says that the world has nothing to say of the lock.
	untold string
	trace  *trace.Trace
	// broken says that this process cannot be relied on any more.
	broken bool
}

// patience is how much real time a world may take. Half of it may pass between two
// events.
const patience = 20 * time.Second

// tell runs a world and judges it.
func (s *subject) tell(p place, w world) verdict {
	tr, err := sim.RunPatiently(w.config, patience)
	return s.judge(p, w, tr, err)
}

// judge judges what came of a world.
func (s *subject) judge(p place, w world, tr *trace.Trace, err error) verdict {
	v := verdict{data: checks.Undecided, trace: tr}
	blame := func(rule, why, lines string) { v.problems = append(v.problems, problem{rule, why, lines, p}) }
	if errors.Is(err, sim.ErrLate) {
		v.reasons = append(v.reasons, err.Error()) // it is this machine's doing
		return v
	}
	if err != nil {
		rule := sim.Conduct(err)
		if rule == "" {
			v.reasons = append(v.reasons, err.Error())
			blame("error", "the world cannot be run: "+err.Error(), "")
			return v
		}
		why, stacks, _ := strings.Cut(err.Error(), "\n")
		blame(rule, why, ownStacks(stacks))
		v.broken = errors.Is(err, sim.ErrStuck)
	}
	if tr == nil {
		return v
	}
	for _, f := range tr.Faults {
		if f.Moot {
			v.untold = f.Text + ": " + f.Idle
			v.problems = nil
			return v
		}
	}
	judged := checks.Check(history.Of(tr), w.witnesses)
	v.data = judged.Verdict
	for _, reason := range judged.Reasons {
		v.reasons = append(v.reasons, reason.String())
	}
	for _, f := range judged.Findings {
		switch {
		case f.Outcome != checks.Violated:
		case f.Property == checks.Progress && len(judged.Reasons) > 0:
			// The story has not come about, and may be what keeps everybody waiting.
		case f.Fault == checks.FaultLock:
			blame(string(f.Property), f.Reason.String(), excerpt(tr, f.Events))
		case !f.Fault.IsZero():
			v.excused = append(v.excused, string(f.Property)+": "+f.Fault.String())
		}
	}
	for _, find := range rules {
		if rule, why, at := find(s, w, tr); rule != "" {
			blame(rule, why, excerpt(tr, at))
		}
	}
	v.problems = withoutConsequences(v.problems)
	return v
}

// rules are those that a lock must keep besides the properties of package checks. Each
// finds where a trace breaks it, in the events at; a rule that is "" is kept.
var rules = []func(s *subject, w world, t *trace.Trace) (rule, why string, at []int){
	unmade, unasserted, unreturned, breathless, unclaimed, unnotified, growing, lingering, left,
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
func excerpt(t *trace.Trace, events []int) string {
	return reports.Timeline{}.Excerpt(t, events)
}

// unmade: a lock that could not be made.
func unmade(_ *subject, _ world, t *trace.Trace) (rule, why string, at []int) {
	for i := range t.Events {
		if ev := &t.Events[i]; ev.Kind == trace.KindDone && strings.HasPrefix(ev.Text, trace.CannotMake) {
			return ruleMake, ev.Process + ": " + ev.Text, nil
		}
	}
	return "", "", nil
}

// unasserted: a program that asks something of the lock and does not get it.
func unasserted(_ *subject, w world, t *trace.Trace) (rule, why string, at []int) {
	if !w.asserts {
		return "", "", nil
	}
	last := map[string][]int{} // each client's last call of the lock that was no release
	for i := range t.Events {
		ev := &t.Events[i]
		switch {
		case ev.Kind == trace.KindBegin && (ev.Step == trace.Acquire || ev.Step == trace.Extend):
			last[ev.Process] = []int{ev.Seq}
		case ev.Kind == trace.KindEnd && (ev.Step == trace.Acquire || ev.Step == trace.Extend):
			last[ev.Process] = append(last[ev.Process], ev.Seq)
		case ev.Kind == trace.KindDone && !ev.OK && !strings.HasPrefix(ev.Text, trace.CannotMake):
			rule, why, claimed := strings.Cut(ev.Text, " | ")
			if !claimed {
				rule, why = ruleAssert, ev.Text
			}
			return rule, ev.Process + ": " + why, last[ev.Process]
		}
	}
	return "", "", nil
}

// longest is how long a call of the lock may go on once no fault acts any more.
const longest = time.Minute

// unreturned: a call of the lock that does not return though nothing is wrong any
// more, while others do not hold the lock either.
func unreturned(_ *subject, _ world, t *trace.Trace) (rule, why string, at []int) {
	var calm time.Duration // since when no fault acts
	acting := map[int]bool{}
	under := map[string]*trace.Event{} // what each client has under way
	inside := map[string]bool{}
	for i := range t.Events {
		ev := &t.Events[i]
		switch ev.Kind {
		case trace.KindStrike:
			acting[ev.Fault] = !ev.Instant
			calm = ev.At
		case trace.KindLift:
			acting[ev.Fault] = false
			calm = ev.At
		case trace.KindBegin:
			under[ev.Process] = ev
			if ev.Step == trace.Release {
				delete(inside, ev.Process)
			}
		case trace.KindEnd:
			delete(under, ev.Process)
			if ev.Step == trace.Acquire && ev.OK {
				inside[ev.Process] = true
			}
		case trace.KindCrash, trace.KindDone:
			delete(under, ev.Process)
			delete(inside, ev.Process)
		case trace.KindHorizon:
			for _, acts := range acting {
				if acts {
					return "", "", nil
				}
			}
			for _, p := range t.Processes {
				call := under[p.Name]
				if call == nil || call.Step.AtStorage() || call.Step == trace.Work || ev.At-max(call.At, calm) < longest {
					continue
				}
				if call.Step == trace.Acquire && len(inside) > 0 {
					continue // it waits for its turn
				}
				return ruleHang, fmt.Sprintf("%s called %s at %v and still waited at %v", p.Name, call.Step, call.At, ev.At), []int{call.Seq, ev.Seq}
			}
		}
	}
	return "", "", nil
}

// unclaimed: a grant without what the lock claims for each.
func unclaimed(s *subject, w world, t *trace.Trace) (rule, why string, at []int) {
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Kind != trace.KindEnd || ev.Step != trace.Acquire || !ev.OK {
			continue
		}
		switch {
		case s.config.Tokens && !ev.Minted && w.config.Tokens.Source.Name == "":
			return claimTokens, ev.Process + " was granted the lock without a fencing token", []int{ev.Seq}
		case s.config.Notifies && !ev.Notifies:
			return claimNotifies, ev.Process + " was given a lease that cannot tell of its loss", []int{ev.Seq}
		}
	}
	return "", "", nil
}
