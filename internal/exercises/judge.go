package exercises

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// A Failure is a reason why an exercise is not solved.
type Failure struct {
	// Why is one sentence. Only Why is never "".
	Why string
	// World is the title of the world that shows it, Example says what goes wrong there, and
	// Lines are the few events that matter.
	World, Example, Lines string
	// Hint says what to look at.
	Hint string
	// Address is the world of a lock as [Trial.Replay] takes it. Failed is how many worlds
	// show something wrong, and Of how many were run.
	Address    string
	Failed, Of int

	gravity int
}

// Check runs the lock in the worlds of a stage, and returns why it has not reached the
// stage; nil if it has.
func (t *Trial) Check(ctx context.Context, s Stage) (*Failure, error) {
	worlds := worldsOf(s.Number, t.sources)
	records, err := t.run(ctx, worlds)
	if err != nil {
		return nil, err
	}
	if why := t.missingMethod(s); why != "" {
		return &Failure{Why: why, Hint: s.Hint}, nil
	}
	var all []*Failure
	for _, r := range records {
		f, err := r.judge()
		if err != nil {
			return nil, err
		}
		if f != nil {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	worst := slices.MinFunc(all, func(a, b *Failure) int { return a.size() - b.size() })
	worst.Failed, worst.Of = len(all), len(worlds)
	worst.Hint = s.Hint
	return worst, nil
}

// size orders failures by how good an example they are: a wrong grant before a key that is
// left behind, and a short excerpt before a long one. An excerpt of one line does not show
// what happened before.
func (f *Failure) size() int {
	lines := strings.Count(f.Lines, "\n")
	n := f.gravity*100_000 + lines*1000 + len(f.Why)
	if lines < 2 {
		n += 50_000
	}
	return n
}

// variant returns the variant of the world's scenario.
func (w trialWorld) variant() (*scenarios.Variant, error) {
	s, err := scenarios.Parse(strings.ReplaceAll(w.name, "/", "-")+".yaml", []byte(w.text))
	if err != nil {
		return nil, err
	}
	return s.Variants[0], nil
}

// lockName is the name of the reader's lock in the traces.
const lockName = "your-lock"

// judge returns why the lock failed in a world, or nil.
func (r record) judge() (*Failure, error) {
	v, err := r.world.variant()
	if err != nil {
		return nil, err
	}
	f := &Failure{World: v.Title, Address: r.world.address()}
	if r.Trace == nil && r.Ending != nil {
		f.Why, f.Lines = endingSentence(r.Ending.Rule, r.Ending.Why), ownFrames(r.Ending.Stacks)
		return f, nil
	}
	if r.Trace == nil {
		f.Why = "The world cannot be run: " + r.Error
		return f, nil
	}
	run := v.Judge(r.Trace, lockName, r.world.fencing())
	h := run.History
	switch finding, mistake := r.world.findViolation(run); {
	case r.Ending != nil:
		f.Why, f.Lines = endingSentence(r.Ending.Rule, r.Ending.Why), ownFrames(r.Ending.Stacks)
	case finding != nil:
		f.gravity = finding.Property.Card().Gravity
		f.Why = sentence(string(story.RenderReasons(finding.Reason)))
		if mistake != "" {
			f.Why, f.Example = sentence(mistake), f.Why
		}
		f.Lines = reports.Timeline{}.Excerpt(h, withFaults(h, finding))
	default:
		return f.ifNotGranted(r.world, h, run.Verdict), nil
	}
	return f, nil
}

// findViolation returns the violation that explains best why the lock fails in the world;
// nil if none counts there. If the lock itself is to blame, that is the violation from which
// the others follow, and mistake says what the lock does wrong.
func (w trialWorld) findViolation(run scenarios.RunResult) (best *checks.Finding, mistake string) {
	var counting, own []checks.Finding
	for _, f := range run.Verdict.Findings {
		switch card := f.Property.Card(); {
		case f.Outcome != checks.Violated:
		case f.Blame == checks.BlameLock:
			own = append(own, f)
		case w.strictness == everything && f.Counts(), w.strictness == fencedData && card.Subject == checks.SubjectData:
			counting = append(counting, f)
		}
	}
	if causes := checks.Causes(run.History, own); len(causes) > 0 {
		return &causes[0].Findings[0], story.MistakeTitle(causes[0].Mistake, causes[0].Step)
	}
	for i, f := range counting {
		if best == nil || f.At < best.At {
			best = &counting[i]
		}
	}
	return best, ""
}

// ifNotGranted completes the failure if a client was not granted the lock as often as the
// world must see it, or if the run says nothing about the lock. Otherwise it returns nil.
func (f *Failure) ifNotGranted(w trialWorld, h *history.History, verdict *checks.Verdict) *Failure {
	const afterAllOthers = 90
	f.gravity = afterAllOthers
	for _, letter := range "ABC" {
		client := w.client(letter)
		granted := 0
		for _, s := range h.Sections() {
			if s.Client == client {
				granted++
			}
		}
		if wanted := strings.Count(w.grants, string(letter)); granted < wanted {
			f.Why = fmt.Sprintf("%s is granted the lock %s in %s, and %s would have been possible.",
				client, times(granted), story.ProseSpan(endOf(h)), times(wanted))
			f.Lines = reports.Timeline{}.Excerpt(h, lastFailures(h, client))
			return f
		}
	}
	for _, s := range h.Sections() {
		if s.Granted.Ungranted && !slices.Contains(w.strangerNames(), s.Client) {
			f.Why = fmt.Sprintf("%s was granted the lock, although no majority of the nodes has the key %q for it.", s.Client, s.Lock)
			f.Lines = reports.Timeline{}.Excerpt(h, []int{s.Granted.Seq})
			return f
		}
	}
	if reasons := verdict.Reasons; len(reasons) > 0 && !w.isLoose {
		f.Why = "The world shows nothing about the lock: " + string(story.RenderReasons(reasons[0]))
		return f
	}
	return nil
}

func (w trialWorld) strangerNames() (names []string) {
	for _, letter := range w.strangers {
		names = append(names, w.client(letter))
	}
	return names
}

// endOf returns when a run ended.
func endOf(h *history.History) time.Duration { return time.Duration(h.Last().At) }

// lastFailures returns the first and the last failed attempt of a client to acquire.
func lastFailures(h *history.History, client string) (events []int) {
	for _, c := range h.Calls() {
		if c.Client == client && c.Step == trace.Acquire && c.Failed() {
			events = append(events, c.Ended.Seq)
		}
	}
	if len(events) > 2 {
		events = []int{events[0], events[len(events)-1]}
	}
	return events
}

func times(n int) string {
	switch n {
	case 0:
		return "not once"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// withFaults returns the events that show a violation, and those with which the faults before
// it struck and ended.
func withFaults(h *history.History, f *checks.Finding) []int {
	events := slices.Clone(f.Events)
	for _, a := range h.Acts() {
		for _, ev := range []*trace.Event{a.Struck, a.Lifted} {
			if ev != nil && ev.Seq <= f.At {
				events = append(events, ev.Seq)
			}
		}
	}
	slices.Sort(events)
	return slices.Compact(events)
}

// sentence returns a text as a sentence. Names, such as client-1, stay as they are.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	for _, small := range []string{"at ", "acquire ", "release ", "extend ", "a ", "the ", "two "} {
		if strings.HasPrefix(text, small) {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// endingSentence says how the lock's code ended a run.
func endingSentence(rule, why string) string {
	switch rule {
	case trace.ConductPanic:
		return sentence("The lock's code panics or ends the program: " + why)
	case trace.ConductHang:
		return sentence("The lock's code hangs: " + why)
	case trace.ConductLeak:
		return sentence("The lock's code leaves goroutines behind: " + why)
	}
	return sentence("The lock's code does not come to an end: " + why)
}

// maxFrames is how many lines of a stack a failure shows.
const maxFrames = 8

// ownFrames returns the lines of stacks that name the lock's own files.
func ownFrames(stacks string) string {
	var b strings.Builder
	n := 0
	for line := range strings.SplitSeq(stacks, "\n") {
		line = strings.TrimSpace(line)
		place, _, _ := strings.Cut(line, " +0x")
		if strings.Contains(line, ".go:") && !strings.Contains(line, "github.com/") && !strings.Contains(line, graderFolder) && !isStandard(line) && n < maxFrames {
			fmt.Fprintf(&b, "at %s\n", place)
			n++
		}
	}
	return b.String()
}

// isStandard reports whether a line of a stack names a file of the standard library.
func isStandard(line string) bool {
	first, _, _ := strings.Cut(line, "/")
	return !strings.HasPrefix(line, "/") && !strings.Contains(first, ".") || strings.Contains(line, "/src/runtime/") || strings.Contains(line, "/src/internal/")
}
