package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// A remark is one plain statement about runs: whose it is and what it says.
type remark struct{ about, text string }

// explain says what broke in the runs of one story and why, in as few sentences
// as that takes. It knows nothing but the traces and what the checks found.
func explain(runs []scenarios.Outcome) []remark {
	var remarks []remark
	for _, run := range runs {
		remarks = append(remarks, remark{runName[run.Fencing], explainData(run)})
	}
	remarks = append(allTheSame(remarks, "the data"), explainLocks(runs)...)
	remarks = append(remarks, notes(runs)...)
	return slices.DeleteFunc(remarks, func(r remark) bool { return r.text == "" })
}

// notes are what one has to know of how the runs were made.
func notes(runs []scenarios.Outcome) []remark {
	var remarks []remark
	for _, run := range runs {
		for _, note := range run.History.Trace.Notes {
			if r := (remark{"this build", statement(capital(note))}); !slices.Contains(remarks, r) {
				remarks = append(remarks, r)
			}
		}
	}
	return remarks
}

// explainLocks says what broke of the lock, once where it is the same of all
// runs.
func explainLocks(runs []scenarios.Outcome) []remark {
	var remarks []remark
	said := make([][]string, len(runs))
	for i, run := range runs {
		said[i] = explainLock(run)
	}
	ofAll := func(text string) bool {
		return !slices.ContainsFunc(said, func(texts []string) bool { return !slices.Contains(texts, text) })
	}
	for _, text := range said[0] {
		if ofAll(text) {
			remarks = append(remarks, remark{"the lock", text})
		}
	}
	for i, run := range runs {
		for _, text := range said[i] {
			if !ofAll(text) {
				remarks = append(remarks, remark{"the lock, " + runName[run.Fencing], text})
			}
		}
	}
	return remarks
}

// allTheSame says once what is the same of every run.
func allTheSame(remarks []remark, about string) []remark {
	for _, r := range remarks {
		if r.text != remarks[0].text {
			return remarks
		}
	}
	return []remark{{about, remarks[0].text}}
}

func explainData(run scenarios.Outcome) string {
	v := run.Verdict
	for _, p := range checks.PropertiesOf(checks.OfData) {
		f := v.Finding(p)
		if f.Outcome != checks.Violated {
			continue
		}
		text := statement(f.Reason.Begun(story.Voice))
		if p == checks.SerialSections && len(f.Cycle) > 0 {
			text += " The cycle: " + statement(timed(f.Cycle...))
		}
		if refused := refusals(run.History); refused != "" {
			text += " " + refused
		}
		return text
	}
	if len(v.Reasons) > 0 {
		return "The run proves nothing: " + statement(timed(v.Reasons[0]))
	}
	if refused := refusals(run.History); refused != "" {
		return refused
	}
	if v.Verdict == checks.Safe {
		return intact(run)
	}
	for _, p := range checks.PropertiesOf(checks.OfData) {
		if f := v.Finding(p); f.Outcome != checks.Holds && !f.Reason.IsZero() {
			return fmt.Sprintf("Nobody can tell whether %s holds: %s", p, statement(timed(f.Reason)))
		}
	}
	return ""
}

// intact says that nothing happened to the data, and why, where something could have.
func intact(run scenarios.Outcome) string {
	if why := spared(run); why != "" {
		return why
	}
	if len(run.History.Versions()) == 0 {
		return "The data is as it was: nothing was written."
	}
	return "The data is intact: every write took effect in order."
}

// refusals says what the storage refused.
func refusals(h *history.History) string {
	refused := slices.DeleteFunc(slices.Clone(h.Served()), func(ev *trace.Event) bool { return ev.OK })
	if len(refused) == 0 {
		return ""
	}
	first := refused[0]
	text := fmt.Sprintf("The storage refused %s %s at %s: %s",
		story.Visible(story.Possessive(first.Client())), first.Step, story.Moment(first.At, 3), statement(story.Visible(story.Quoted(first.Text))))
	if n := len(refused); n > 1 {
		text += fmt.Sprintf(" It refused %s.", story.Count(n-1, "more request"))
	}
	return text
}

// explainLock says, one by one, how the lock's own properties broke: whether it
// was granted twice or only outlived, then everything else.
func explainLock(run scenarios.Outcome) []string {
	var said []string
	violated := func(p checks.Property) bool {
		f := run.Verdict.Finding(p)
		if f.Outcome == checks.Violated {
			said = append(said, strings.TrimSpace(statement(f.Reason.Begun(story.Voice))+" "+blame(f.Fault)))
		}
		return f.Outcome == checks.Violated
	}
	for _, p := range checks.PropertiesOf(checks.OfExclusion) {
		if violated(p) {
			break // where leases overlap, sections do: that need not be said as well
		}
	}
	for _, p := range checks.PropertiesOf(checks.OfConduct) {
		if p == checks.GrantOrder && run.Verdict.Verdict == checks.Unsafe {
			continue // the data's own trouble says it
		}
		violated(p)
	}
	return said
}

// blame says whose fault a violation is, where that can be told.
func blame(b checks.Blame) string {
	switch b.Whose {
	case checks.ByAssumption:
		return fmt.Sprintf("An assumption of the lock had broken: %s.", joined(b.Broken()))
	case checks.ByLock:
		return "That is the lock's own fault."
	case checks.ByNature:
		return "Their leases never overlapped: no lock whose grants end by time can prevent that."
	}
	return ""
}

// joined are assumptions with commas between them.
func joined(all []trace.Assumption) string {
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = string(a)
	}
	return strings.Join(words, ", ")
}

// timed tells reasons, one after the other, with times as the timeline writes them, so
// that one finds them there.
func timed(reasons ...checks.Reason) string {
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = r.Told(story.Voice)
	}
	return strings.Join(words, "; ")
}

// statement makes of what is to be said a sentence that ends.
func statement(says string) string { return strings.TrimRight(story.Visible(says), ".") + "." }

// capital begins a sentence with a capital letter.
func capital(s string) string {
	if s != "" && 'a' <= s[0] && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
