package explore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// scenarioFile writes a world of a base as a scenario file: its faults, and a title, a
// story, witnesses and expectations. It makes these from the traces of the world's two
// runs, which it gets from source. Running the file on the base's seed gives the same
// traces.
//
// If the base has its own kind of lock, which need not be registered, only Go can run the
// file. A world whose lock hangs has no trace, so its file describes only the faults.
// scenarioFile returns an error if the world cannot be made.
func scenarioFile(ctx context.Context, all accountant, b Base, w runs.World) (account, error) {
	v, err := b.Story()
	if err != nil {
		return account{}, err
	}
	if v, err = v.With(w.Change); err != nil {
		return account{}, err
	}
	d := story.Discovery{Lock: cmp.Or(b.Kind.Name, v.Lock), InGo: b.Kind.Name != "", Seed: b.Seed}
	doc := document(v, w.Faults)
	accounts, err := both(ctx, all, w)
	if err != nil {
		return account{}, err
	}
	if last := accounts[len(accounts)-1]; last.History == nil {
		d.Conduct = last.Ending.Rule
		var infos []trace.FaultInfo
		for _, f := range w.Faults {
			infos = append(infos, f.Info())
		}
		says := tell(doc, d.Lock, story.TellFaults(infos, d.Conduct), nil)
		says.text, err = writePage(doc, d.Comments())
		return says, err
	}
	off, on := accounts[0], accounts[1]
	main := off
	if off.Verdict.Gravest() == "" && on.Verdict.Gravest() != "" {
		main = on
	}
	var witnesses []trace.Witness
	if witnesses, d.Idle, err = witnessesOf(ctx, all, w, accounts, main); err != nil {
		return account{}, err
	}
	paragraph := story.Tell(main.History, main.Verdict)
	says := tell(doc, d.Lock, paragraph, on.Verdict)
	say(doc, "assumption", story.Raw(assumption(main)))
	say(doc, "why", paragraph.Why(off.Verdict, on.Verdict))
	say(doc, "lesson", paragraph.Lesson(off.Verdict, on.Verdict, on.History))
	if len(witnesses) > 0 {
		var texts []string
		for _, w := range witnesses {
			texts = append(texts, w.String())
		}
		doc.Set("witnesses", texts)
	}
	d.Open = expect(doc, off, on)
	says.text, err = writePage(doc, d.Comments())
	return says, err
}

// A worldFile is the description of a world: its scenario file, the title without the
// leading name of the lock, and the story.
type account struct {
	text         []byte
	title, story string
}

// titleWidth is the length of a title in characters, unless it has to be longer.
const titleWidth = 100

// setTitleAndStory sets a file's title, which begins with the name of the lock, and its
// story.
func tell(doc *scenarios.Document, lock string, paragraph *story.Paragraph, fenced *checks.Verdict) account {
	begins := lock + ": "
	title, text := paragraph.Title(fenced, titleWidth-utf8.RuneCountInString(begins)), paragraph.Text()
	say(doc, "title", story.Raw(begins)+title)
	say(doc, "story", text)
	return account{title: string(title), story: string(text)}
}

// setText sets a field of a file to a text, unless the text is empty.
func say(doc *scenarios.Document, field string, words story.Raw) {
	if words != "" {
		doc.Set(field, string(words))
	}
}

// assumption returns the assumption that the faults of a run break, or "" if it cannot be
// determined.
func assumption(run runs.Account) trace.Assumption {
	var all []trace.Assumption
	for _, f := range run.History.Trace.Faults {
		if !slices.Contains(all, f.Assumption) {
			all = append(all, f.Assumption)
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	for _, f := range run.Verdict.Violations() {
		for _, one := range f.Fault.Broken() {
			if slices.Contains(all, one) {
				return one
			}
		}
	}
	return ""
}

// setExpectations makes a file expect the results that its two runs had. It expects nothing
// of an inconclusive run, and returns the inconclusive runs.
func expect(doc *scenarios.Document, off, on runs.Account) (open []story.OpenRun) {
	var all scenarios.Fields
	for i, run := range []runs.Account{off, on} {
		fencing := fencings[i]
		if why := story.Undecided(run.Verdict); why != "" {
			open = append(open, story.OpenRun{Fencing: fencing, Why: why})
			continue
		}
		var violated []string
		for _, f := range run.Verdict.Findings {
			if f.Counts() {
				violated = append(violated, string(f.Property))
			}
		}
		all = append(all, scenarios.Field{Name: fencing, Value: scenarios.Fields{
			{Name: "verdict", Value: run.Verdict.Verdict}, {Name: "violated", Value: violated},
		}})
	}
	if len(all) > 0 {
		doc.Set("expect", all)
	}
	return open
}

// descriptionFields are the fields in which a scenario describes itself, and its faults. A
// file that is written anew has its own, or none.
var ownWords = []string{
	"group", "source", "assumption", "story", "question", "why", "prevention", "says", "faults", "witnesses", "measures",
	"expect", "expect-with", "lesson",
}

// withoutDescription returns a scenario without the fields in which it describes itself.
func withoutOwnWords(v *scenarios.Variant) *scenarios.Document {
	doc := v.Document()
	for _, field := range ownWords {
		doc.Delete(field)
	}
	return doc
}

// draft returns a base with some faults, as a document without a description.
func document(base *scenarios.Variant, faults []runs.Fault) *scenarios.Document {
	doc := withoutOwnWords(base)
	var list []scenarios.Fields
	for _, f := range faults {
		list = append(list, scenarios.FaultFields(f.Fault))
	}
	if len(list) > 0 {
		doc.Set("faults", list)
	}
	return doc
}

// A reportSource reports what happened in a run of a world, as a [runs.Backend] does.
type accountant interface {
	Account(ctx context.Context, w runs.World, fencing string) (runs.Account, error)
}

// fencings are the two runs of a world in their order.
var fencings = []string{runs.Without, runs.With}

// bothReports returns the reports of a world's two runs. If a run has no trace, its report
// is the last one. It returns an error if the world cannot be made or its result is
// unknown.
func both(ctx context.Context, all accountant, w runs.World) (accounts []runs.Account, err error) {
	for _, fencing := range fencings {
		a, err := all.Account(ctx, w, fencing)
		if err == nil && a.History == nil && a.Ending == nil {
			err = errors.New(a.Doubt)
		}
		if err != nil {
			return nil, err
		}
		if accounts = append(accounts, a); a.History == nil {
			break
		}
	}
	return accounts, nil
}

// histories returns the histories of runs, or nil if one of them has no trace.
func histories(accounts []runs.Account) (all []*history.History) {
	for _, a := range accounts {
		if a.History == nil {
			return nil
		}
		all = append(all, a.History)
	}
	return all
}

// chooseWitnesses chooses the witnesses of a world; main is the run that its story
// describes. idle are the numbers of the faults that no witness needs.
func witnessesOf(ctx context.Context, all accountant, w runs.World, accounts []runs.Account, told runs.Account) (chosen []trace.Witness, idle []int, err error) {
	with := func(faults []runs.Fault) ([]*history.History, error) {
		w.Faults = faults
		accounts, err := both(ctx, all, w)
		return histories(accounts), err
	}
	faults := w.Faults
	bare, err := with(nil)
	if err != nil {
		return nil, nil, err
	}
	less := make([][]*history.History, len(faults))
	for i := range faults {
		if less[i], err = with(slices.Delete(slices.Clone(faults), i, i+1)); err != nil {
			return nil, nil, err
		}
	}
	chosen, idle = rivalryIn(told.History, told.Verdict).witnesses(histories(accounts), less, bare)
	return chosen, idle, nil
}
