package locktest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/runs"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A problem is a reason for which the lock fails the test.
type problem struct {
	// Rule is the property that is violated, the claim that is not kept, or what the lock
	// must not do.
	Rule checks.Property
	// Mistake is what the lock does wrong, and Step the call in which it makes the mistake; see
	// [checks.Cause].
	Mistake checks.Mistake
	Step    trace.Step
	// Follows means that the problem follows from another one with the same mistake, which
	// happened before.
	Follows bool
	// Why explains the problem in one sentence.
	Why string
	// Lines are the lines of the timeline that matter, or the stacks of goroutines.
	Lines string
	// InTheWay describes the key that keeps other clients waiting; "" if none does.
	InTheWay string
	// Address identifies the world that shows the problem.
	Address address
}

// ruleError is the Rule of the problem that a world cannot be run.
const ruleError checks.Property = "error"

// A verdict is what one world shows about the lock.
type verdict struct {
	problems []problem
	// excused are the violations that are not the lock's fault.
	excused []excuse
	// data is the verdict on the data that the lock protects: safe, unsafe or unknown. If
	// it is unknown, reasons explain why.
	data    string
	reasons []string
	// notApplicable is why the world does not apply to the lock, or "".
	notApplicable string
	// latencyDivisor is the number by which the world's latencies were divided.
	latencyDivisor time.Duration
	// releases counts the releases of the run.
	releases releases
	// mistypedMethods are the optional methods of the run's leases that have the right name but the
	// wrong signature, so locksim ignores them.
	mistypedMethods []string
	// history is what happened; nil if the world could not be run, or hung.
	history *history.History
	// unreliable means that this process cannot run any more worlds reliably.
	unreliable bool
}

// An excuse is a violated property for which the lock is not to blame, with what is to blame
// for it.
type excuse struct {
	Property checks.Property
	Blame    checks.Blame
}

func (e excuse) String() string { return string(e.Property) + ": " + e.Blame.String() }

// runWorld runs a world and judges it.
func (s *subject) runWorld(p address, w world) verdict {
	config, divisor, err := s.pace(w.config)
	var j runs.JudgedRun
	if err != nil {
		j, err = runs.JudgeError(err) // the lock had failed before, when its latencies were measured
	} else {
		j, err = runs.Judge(config, s.config.Patience, w.witnesses)
	}
	v := s.judge(p, w, j, err)
	v.latencyDivisor = divisor
	return v
}

// judge judges the result of a world. err is why the world could not be run, or nil.
func (s *subject) judge(p address, w world, j runs.JudgedRun, err error) verdict {
	v := verdict{data: checks.Undecided, history: j.History, unreliable: j.Ending != nil && j.History == nil || errors.Is(err, sim.ErrMutex)}
	addProblem := func(rule checks.Property, why, lines string) {
		v.problems = append(v.problems, problem{Rule: rule, Mistake: checks.Mistake(rule), Why: why, Lines: lines, Address: p})
	}
	if err != nil {
		v.reasons = append(v.reasons, err.Error())
		switch {
		case errors.Is(err, sim.ErrMutex): // a limit of the simulator
		case errors.Is(err, sim.ErrLate) && !errors.Is(err, sim.ErrHeavy): // this machine was too slow
		default:
			addProblem(ruleError, "the world cannot be run: "+err.Error(), "")
		}
		return v
	}
	h := j.History
	if h == nil {
		h = history.New(&trace.Trace{}) // a world that hangs leaves no history
	}
	for _, f := range h.Trace.Faults {
		if f.NotApplicable {
			v.notApplicable = f.Text + ": " + f.IdleReason
			return v
		}
	}
	if v.notApplicable = s.refusal(w, h); v.notApplicable != "" {
		return v
	}
	v.releases = releasesIn(h)
	for _, section := range h.Sections() {
		v.mistypedMethods = appendNew(v.mistypedMethods, section.Granted.Mistyped...)
	}
	v.data = j.Verdict.Verdict
	// A run that the lock ended, for example by a panic, is a problem. It casts no doubt on
	// what had happened before.
	doubts := slices.DeleteFunc(j.Verdict.Reasons, checks.Reason.IsEnding)
	// A limit of the simulator comes first: it may be why the preconditions were not met.
	slices.SortStableFunc(doubts, func(a, b checks.Reason) int { return isLimit(b) - isLimit(a) })
	for _, reason := range doubts {
		v.reasons = append(v.reasons, voice.RenderReasons(reason).String())
	}
	var blamed []checks.Finding
	for _, f := range j.Verdict.Findings {
		switch {
		case f.Outcome != checks.Violated:
		case f.Property == checks.Progress && !f.IsConclusive && len(doubts) > 0:
			// The scenario's preconditions were not met, which may be the reason that all
			// clients still wait.
		case f.Blame == checks.BlameLock:
			lines := excerpt(h, f.Events)
			if e := j.Ending; e != nil && f.Property == checks.Property(e.Rule) {
				lines = lockStacks(e.Stacks)
			}
			addProblem(f.Property, voice.RenderReasons(f.Reason).String(), lines)
			blamed = append(blamed, f)
		case !f.Blame.IsZero():
			v.excused = append(v.excused, excuse{f.Property, f.Blame})
		}
	}
	nameMistakes(v.problems, h, checks.Causes(h, blamed))
	v.problems = dropConsequences(v.problems)
	return v
}

// isLimit returns 1 for a doubt that comes from the simulator, and 0 for any other.
func isLimit(r checks.Reason) int {
	if r.Code == checks.Code(checks.InDoubt) {
		return 1
	}
	return 0
}

// nameMistakes sets, in each problem, the mistake that caused the problem.
func nameMistakes(problems []problem, h *history.History, causes []checks.Cause) {
	for _, c := range causes {
		for n, f := range c.Findings {
			for i := range problems {
				if p := &problems[i]; p.Rule == f.Property {
					p.Mistake, p.Step, p.Follows = c.Mistake, c.Step, n > 0
					if c.InTheWay != nil && f.Property == checks.Progress {
						p.InTheWay = voice.KeyInTheWay(h, c.InTheWay)
					}
				}
			}
		}
	}
}

// dropConsequences leaves out problems that follow from another one. A lock that panics,
// whose call never returns, or whose client does not know whether it holds the lock cannot
// be expected to do anything else right.
func dropConsequences(problems []problem) []problem {
	for _, p := range problems {
		if p.Mistake == checks.ReturnsNoLease {
			return []problem{p}
		}
	}
	for _, cause := range []checks.Property{checks.Panic, checks.Hang, checks.CannotBeMade} {
		for _, p := range problems {
			if p.Rule == cause {
				return []problem{p}
			}
		}
	}
	return problems
}

// lockStacks returns the stacks of goroutines without the goroutines of the simulator.
func lockStacks(stacks string) string {
	all := strings.Split(strings.TrimSpace(stacks), "\n\n")
	return strings.Join(slices.DeleteFunc(all, func(stack string) bool {
		return strings.Contains(stack, "testing/synctest.testingSynctestTest(") || strings.Contains(stack, "sim.(*World).end(")
	}), "\n\n")
}

// excerpt returns the lines of the timeline that show some events, given by their numbers.
func excerpt(h *history.History, events []int) string {
	return reports.Timeline{}.Excerpt(h, events)
}
