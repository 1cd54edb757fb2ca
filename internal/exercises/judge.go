package exercises

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	var records []record
	if t.methods == nil || t.missingMethod(s) == "" {
		var err error
		if records, err = t.run(ctx, worlds); err != nil {
			return nil, err
		}
	}
	if why := t.missingMethod(s); why != "" {
		return &Failure{Why: why, Hint: s.Hint}, nil
	}
	var all []*Failure
	for _, r := range records {
		f, err := t.judge(r)
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
	if worst.gravity > 0 { // otherwise the lock did not even run
		worst.Hint = s.Hint
	}
	return worst, nil
}

// size orders failures by how good an example they are: a wrong grant before a key that is
// left behind, and a short excerpt before a long one. An excerpt of one line does not show
// what happened before.
func (f *Failure) size() int {
	lines := min(strings.Count(f.Lines, "\n"), 9)
	n := f.gravity*100_000 + lines*1000 + len(f.Why)
	if lines < 2 {
		n += 50_000
	}
	return n
}

// variant returns the variant of the world's scenario.
func (w trialWorld) variant() (*scenarios.Variant, error) {
	s, err := scenarios.Parse(w.name+".yaml", []byte(w.text))
	if err != nil {
		return nil, err
	}
	return s.Variants[0], nil
}

// lockName is the name of the reader's lock in the traces.
const lockName = "your-lock"

// judge returns why the lock failed in a world, or nil.
func (t *Trial) judge(r record) (*Failure, error) {
	v, err := r.world.variant()
	if err != nil {
		return nil, err
	}
	f := &Failure{World: v.Title, Address: r.world.address()}
	switch {
	case r.Ending != nil:
		f.Why, f.Lines = endingSentence(r.Ending.Rule, r.Ending.Why), t.ownFrames(r.Ending.Stacks)
		if r.Ending.Rule == trace.ConductHang || r.Ending.Rule == trace.ConductLeak {
			f.Hint = "virtual time does not pass while a goroutine waits for a sync.Mutex; use a channel of capacity 1 in its place. Clients are on different machines, and share no mutex: only the keys on the servers keep them apart"
		}
		return f, nil
	case r.Trace == nil:
		f.Why = sentence("The world could not be run: " + cmp.Or(r.Error, "the lock's code has prevented it"))
		return f, nil
	case len(r.Trace.Complaints) > 0 && r.Trace.Complaints[0].Rule == trace.CannotMake:
		f.Why = sentence("The lock could not be made: " + r.Trace.Complaints[0].Why)
		return f, nil
	}
	run := v.Judge(r.Trace, lockName, r.world.fencing())
	h := run.History
	if i := slices.IndexFunc(r.Trace.Complaints, isAboutNoLease); i >= 0 {
		f.Why = "Acquire returns neither a lease nor an error."
		f.Hint = "return ErrNotAcquired if another client holds the lock, and an error of Redis as it is"
		f.Lines = reports.Timeline{}.Excerpt(h, lastFailures(h, r.Trace.Complaints[i].Client))
		return f, nil
	}
	if finding, mistake := r.world.findViolation(run); finding != nil {
		f.gravity = finding.Property.Card().Gravity
		f.Why = sentence(string(story.RenderReasons(finding.Reason)))
		if mistake != "" {
			f.Example = f.Why
			if finding.Property == checks.LeaseExclusion {
				mistake = "Two clients hold the lock at the same time: " + mistake
			}
			f.Why = sentence(mistake)
		}
		f.Lines = excerpt(h, finding)
		return f, nil
	}
	return f.ifNotGranted(r.world, h, run.Verdict), nil
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
			f.Why = fmt.Sprintf("%s is granted the lock %s in %s; a right lock grants it %s.",
				client, times(granted), story.ProseSpan(h.Last().At), times(wanted))
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

// isAboutNoLease reports whether a client complains that acquire returned neither a lease nor
// an error.
func isAboutNoLease(c trace.Complaint) bool { return c.Rule == trace.NoLease }

func (w trialWorld) strangerNames() (names []string) {
	for _, letter := range w.strangers {
		names = append(names, w.client(letter))
	}
	return names
}

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
		return "not even once"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// excerpt returns the lines of the timeline that show a violation.
func excerpt(h *history.History, f *checks.Finding) string {
	events := withFaults(h, f)
	commands := commandsOfGrants(h, f)
	if len(commands) == 0 {
		return reports.Timeline{}.Excerpt(h, events)
	}
	events = append(events, commands...)
	slices.Sort(events)
	return reports.Timeline{Messages: true}.Excerpt(h, events)
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

// maxCommands is how many events of commands an example shows.
const maxCommands = 12

// commandsOfGrants returns, if a violation is about a grant that no server has made, the
// events in which the servers receive the commands of the clients in question, and answer
// them. They show how the clients came to believe in a grant. It returns none if there are
// too many to look at.
func commandsOfGrants(h *history.History, f *checks.Finding) (events []int) {
	inQuestion := map[string]bool{}
	isUngranted := false
	for _, seq := range f.Events {
		ev := h.Event(seq)
		inQuestion[ev.Process] = true
		isUngranted = isUngranted || ev.Ungranted
	}
	if !isUngranted {
		return nil
	}
	for _, m := range h.Messages() {
		switch {
		case m.Sent.Handshake || m.Sent.Seq > f.At || m.Sent.Step != trace.Acquire:
		case inQuestion[m.From] && m.Arrived != nil:
			events = append(events, m.Arrived.Seq)
		case inQuestion[m.To]:
			events = append(events, m.Sent.Seq)
		}
	}
	if len(events) > maxCommands {
		return nil
	}
	return events
}

// sentence returns a text as a sentence. Names, such as client-1, stay as they are.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	for _, small := range []string{"at ", "from ", "no ", "acquire ", "release ", "extend ", "a ", "the ", "two "} {
		if strings.HasPrefix(text, small) {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// conductExit is the rule that a lock breaks by ending the program in which it runs.
const conductExit = "exit"

// endingSentence says how the lock's code ended a run.
func endingSentence(rule, why string) string {
	switch rule {
	case conductExit:
		return sentence("The lock's code ends the whole program: " + why)
	case trace.ConductPanic:
		return sentence("The lock's code panics: " + strings.TrimPrefix(why, "panic: "))
	case trace.ConductHang:
		return "The lock's code hangs: it computes without end, or waits for something that never comes."
	case trace.ConductLeak:
		return "A call of the lock never returns, or the lock leaves goroutines behind."
	}
	return sentence("The lock's code does not come to an end: " + why)
}

// maxFrames is how many places in the lock's files a failure shows.
const maxFrames = 4

// ownFrames returns the places in the lock's files that stacks name, each once, with the
// functions. An empty loop has no line of its own: the compiler gives it line 1.
func (t *Trial) ownFrames(stacks string) string {
	var places []string
	function := ""
	for line := range strings.SplitSeq(stacks, "\n") {
		place, _, _ := strings.Cut(strings.TrimSpace(line), " +0x")
		if !strings.Contains(place, ".go:") {
			function = functionName(place)
			continue
		}
		place = strings.TrimPrefix(filepath.ToSlash(place), filepath.ToSlash(t.dir)+"/")
		place = strings.TrimPrefix(place, t.path+"/")
		if strings.Contains(place, "/") || len(places) == maxFrames {
			continue
		}
		if file, isWithoutLine := strings.CutSuffix(place, ".go:1"); isWithoutLine {
			place = file + ".go"
		}
		if function != "" {
			place += ", in " + function
		}
		if !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	if len(places) == 0 {
		return ""
	}
	return "  at " + strings.Join(places, "\n  at ") + "\n"
}

// functionName returns the name of the function in a line of a stack, such as (*Lock).Acquire,
// without its package; "" if the line has none.
func functionName(line string) string {
	arguments := strings.LastIndex(line, "(")
	if arguments < 0 {
		return ""
	}
	name := line[:arguments]
	_, name, _ = strings.Cut(name[strings.LastIndex(name, "/")+1:], ".")
	return name
}
