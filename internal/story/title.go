package story

import (
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/trace"
)

// Title summarizes the run in one line: its faults and the damage. The line has at most as many
// characters as room says, if that is possible. If there are several faults and too little room,
// the line does not say when they strike. fenced is the verdict on the same world with fencing
// tokens; nil if that run left no trace.
func (p *Paragraph) Title(fenced *checks.Verdict, room int) Raw {
	effects, faults := p.damages(fenced), p.history.Trace.Faults
	if len(faults) == 0 {
		return Raw(effects[0] + " without any fault")
	}
	title := ""
	for _, timed := range []bool{true, len(faults) == 1} {
		for _, effect := range effects {
			title = p.headline(faults, timed) + ", and " + effect
			if utf8.RuneCountInString(title) <= room {
				return Raw(title)
			}
		}
	}
	return Raw(title)
}

// headline describes the faults without their durations, with or without the times at which
// they strike.
func (p *Paragraph) headline(faults []trace.FaultInfo, timed bool) string {
	var clauses []string
	for _, f := range faults {
		f.Duration = 0
		strikes := strikeStatement(f)
		what := strikes.subject.String() + " " + strikes.predicate
		if strikes.when != "" && timed {
			what += " " + strikes.when
		}
		clauses = append(clauses, what)
	}
	if len(faults) == 2 && !timed {
		for i := range faults {
			if p.isDuring(2-i, i+1) {
				return clauses[1-i] + " while " + clauses[i]
			}
		}
	}
	return joinActions(clauses)
}

// isDuring reports whether fault strikes while other lasts; both are numbers of faults. An
// instantaneous fault does not last.
func (p *Paragraph) isDuring(fault, other int) bool {
	a, b := p.history.Act(fault), p.history.Act(other)
	return a != nil && b != nil && !b.Instant && b.Struck.Seq < a.Struck.Seq && (b.Lifted == nil || b.Lifted.Seq > a.Struck.Seq)
}

// conductPhrases describes misconduct that ended a run, by the rule that it broke.
var conductPhrases = map[string]string{
	trace.ConductPanic:   "the lock panics",
	trace.ConductLeak:    "the lock leaves a goroutine behind",
	trace.ConductHang:    "the lock hangs",
	trace.ConductEndless: "the lock retries without end",
}

// conduct describes the misconduct that ended the run; "" if the run finished.
func (p *Paragraph) conduct() string {
	ending := p.history.Trace.Ending
	if ending == nil {
		return ""
	}
	if ending.Rule == trace.ConductEndless {
		if _, byLock := p.violation(checks.EndlessRetry); !byLock {
			return "" // the clients' programs called the lock too often
		}
	}
	return conductPhrases[ending.Rule]
}

// damages describes in a few words what broke. It returns several versions, the most
// detailed first.
func (p *Paragraph) damages(fenced *checks.Verdict) []string {
	if conduct := p.conduct(); conduct != "" {
		return []string{conduct}
	}
	broken := p.verdict.Violations()
	if len(broken) == 0 {
		return []string{"nothing breaks"}
	}
	worst, data := p.describeBriefly(broken[0]), broken[0].Property.IsData()
	unsafe := fenced.Verdict == checks.Unsafe
	if data && unsafe {
		worst += " despite fencing"
	}
	const grantedTwice = "the lock is granted twice"
	switch _, granted := p.violation(checks.LeaseExclusion); {
	case !granted || !data:
		return []string{worst}
	case unsafe:
		return []string{grantedTwice + " and " + worst, worst}
	}
	return []string{grantedTwice + " and " + worst, grantedTwice}
}

// describeBriefly describes a violation in a few words.
func (p *Paragraph) describeBriefly(f checks.Finding) string {
	switch {
	case f.Property == checks.NoLostUpdate && p.staleWrite(f) == nil:
		return "an acknowledged write is gone"
	case f.Property == checks.ReleaseOwnership:
		c := p.keyChange(f.At)
		return p.command(c).String() + " " + describeMeddling(c)
	}
	return f.Property.Card().Broken
}
