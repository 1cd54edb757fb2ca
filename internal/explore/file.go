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

// scenarioFile writes a world of a base as a scenario file: its faults, and a title, a story,
// witnesses and expectations. It makes these from the traces of the world's two runs, without and
// with fencing, which source returns. If the file is run with the base's seed, it gives the same
// traces.
//
// If the base has its own kind of lock, only a Go program can run the file, because the
// kind need not be registered. If the lock hangs, there is no trace, so the file describes
// only the faults. scenarioFile returns an error if the world cannot be made.
func scenarioFile(ctx context.Context, source reportSource, b Base, w runs.WorldSpec) (worldFile, error) {
	v, err := b.Variant()
	if err != nil {
		return worldFile{}, err
	}
	if v, err = v.WithChange(w.Change); err != nil {
		return worldFile{}, err
	}
	d := story.Discovery{Lock: cmp.Or(b.Kind.Name, v.Lock), InGo: b.Kind.Name != "", Seed: b.Seed}
	doc := newDocument(v, w.Faults)
	reports, err := bothReports(ctx, source, w)
	if err != nil {
		return worldFile{}, err
	}
	paragraph, mainRun, fenced := paragraphOf(w, reports)
	file := setTitleAndStory(doc, d.Lock, paragraph, fenced)
	if last := reports[len(reports)-1]; last.History == nil {
		d.Conduct = last.Ending.Rule
		file.text, err = writePage(doc, d.Comments())
		return file, err
	}
	off, on := reports[0], reports[1]
	var witnesses []trace.Witness
	if witnesses, d.Idle, err = chooseWitnesses(ctx, source, w, reports, mainRun); err != nil {
		return worldFile{}, err
	}
	setText(doc, "assumption", story.Raw(assumption(mainRun)))
	setText(doc, "why", paragraph.Why(off.Verdict, on.Verdict))
	setText(doc, "lesson", paragraph.Lesson(off.Verdict, on.Verdict, on.History))
	if len(witnesses) > 0 {
		var texts []string
		for _, w := range witnesses {
			texts = append(texts, w.String())
		}
		doc.Set("witnesses", texts)
	}
	d.Open = setExpectations(doc, off, on)
	file.text, err = writePage(doc, d.Comments())
	return file, err
}

// paragraphOf describes what happened in a world, from the reports of its two runs. mainRun is the
// run that p describes, and fenced is the verdict on the run with fencing tokens. If the lock
// hangs, there is no trace: then p describes only the faults, and mainRun and fenced are empty.
func paragraphOf(w runs.WorldSpec, reports []runs.RunReport) (p *story.Paragraph, mainRun runs.RunReport, fenced *checks.Verdict) {
	if last := reports[len(reports)-1]; last.History == nil {
		var infos []trace.FaultInfo
		for _, f := range w.Faults {
			infos = append(infos, f.Info())
		}
		return story.NewFaultsParagraph(infos, last.Ending.Rule), mainRun, nil
	}
	mainRun, fenced = reports[0], reports[1].Verdict
	if mainRun.Verdict.Gravest() == "" && fenced.Gravest() != "" {
		mainRun = reports[1]
	}
	return story.NewParagraph(mainRun.History, mainRun.Verdict), mainRun, fenced
}

// titleAndStory describes a world that cannot be written as a scenario file.
func titleAndStory(ctx context.Context, source reportSource, lock string, w runs.WorldSpec) (title, text string, err error) {
	reports, err := bothReports(ctx, source, w)
	if err != nil {
		return "", "", err
	}
	p, _, fenced := paragraphOf(w, reports)
	return string(p.Title(fenced, titleWidth-utf8.RuneCountInString(lock+": "))), string(p.Text()), nil
}

// A worldFile is a world as a scenario file, its title without the leading name of the
// lock, and its story.
type worldFile struct {
	text         []byte
	title, story string
}

// titleWidth is how many characters a title has at most, if it can be cut to that length.
const titleWidth = 100

// setTitleAndStory sets a file's title and its story. The title begins with the name of the
// lock. fenced is the verdict on the run with fencing tokens, if there is one.
func setTitleAndStory(doc *scenarios.Document, lock string, paragraph *story.Paragraph, fenced *checks.Verdict) worldFile {
	prefix := lock + ": "
	title, text := paragraph.Title(fenced, titleWidth-utf8.RuneCountInString(prefix)), paragraph.Text()
	setText(doc, "title", story.Raw(prefix)+title)
	setText(doc, "story", text)
	return worldFile{title: string(title), story: string(text)}
}

// setText sets a field of a file to a text, unless the text is empty.
func setText(doc *scenarios.Document, field string, words story.Raw) {
	if words != "" {
		doc.Set(field, string(words))
	}
}

// assumption returns the assumption that the faults of a run break. If they break several,
// it returns the one that is to blame, and "" if no single one is.
func assumption(run runs.RunReport) trace.Assumption {
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
		for _, broken := range f.Blame.Broken() {
			if slices.Contains(all, broken) {
				return broken
			}
		}
	}
	return ""
}

// setExpectations makes a file expect the verdicts that its two runs had, and the properties that
// they violated. It makes the file expect nothing of an inconclusive run, and returns the
// inconclusive runs.
func setExpectations(doc *scenarios.Document, off, on runs.RunReport) (inconclusive []story.OpenRun) {
	var all scenarios.Fields
	for i, run := range []runs.RunReport{off, on} {
		fencing := fencings[i]
		if why := story.UndecidedReason(run.Verdict); why != "" {
			inconclusive = append(inconclusive, story.OpenRun{Fencing: fencing, Why: why})
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
	return inconclusive
}

// descriptionFields are the fields in which a scenario describes itself, and its faults.
// They are removed from the scenario of a base before a file is made of it.
var descriptionFields = []string{
	"group", "source", "assumption", "story", "question", "why", "prevention", "says", "faults", "witnesses", "measures",
	"expect", "expect-with", "lesson",
}

// withoutDescription returns a scenario without faults and without the fields in which it
// describes itself.
func withoutDescription(v *scenarios.Variant) *scenarios.Document {
	doc := v.Document()
	for _, field := range descriptionFields {
		doc.Delete(field)
	}
	return doc
}

// newDocument returns a base with some faults as a document, without a description.
func newDocument(base *scenarios.Variant, faults []runs.Fault) *scenarios.Document {
	doc := withoutDescription(base)
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
type reportSource interface {
	Report(ctx context.Context, w runs.WorldSpec, fencing string) (runs.RunReport, error)
}

// fencings are the two runs of a world, in their order: without and with fencing.
var fencings = []string{runs.FencingOff, runs.FencingOn}

// bothReports returns the reports of a world's two runs. If the first run has no trace, the
// second is left out. It returns an error if the world cannot be made, or if its result is
// unknown.
func bothReports(ctx context.Context, source reportSource, w runs.WorldSpec) (reports []runs.RunReport, err error) {
	for _, fencing := range fencings {
		a, err := source.Report(ctx, w, fencing)
		if err == nil && a.History == nil && a.Ending == nil {
			err = errors.New(a.Doubt)
		}
		if err != nil {
			return nil, err
		}
		if reports = append(reports, a); a.History == nil {
			break
		}
	}
	return reports, nil
}

// histories returns the histories of runs, or nil if one of them has no trace.
func histories(reports []runs.RunReport) (all []*history.History) {
	for _, a := range reports {
		if a.History == nil {
			return nil
		}
		all = append(all, a.History)
	}
	return all
}

// chooseWitnesses chooses the witnesses of a world: what must be seen in its runs for the verdict
// to mean anything. mainRun is the run that the world's story describes. To find out what happens
// only because of the faults, it also runs the world without each single one of its faults, and
// without any fault. idle has the numbers of the faults that no witness needs.
func chooseWitnesses(ctx context.Context, source reportSource, w runs.WorldSpec, reports []runs.RunReport, mainRun runs.RunReport) (chosen []trace.Witness, idle []int, err error) {
	runWith := func(faults []runs.Fault) ([]*history.History, error) {
		w.Faults = faults
		reports, err := bothReports(ctx, source, w)
		return histories(reports), err
	}
	faults := w.Faults
	withoutAny, err := runWith(nil)
	if err != nil {
		return nil, nil, err
	}
	withoutOne := make([][]*history.History, len(faults))
	for i := range faults {
		if withoutOne[i], err = runWith(slices.Delete(slices.Clone(faults), i, i+1)); err != nil {
			return nil, nil, err
		}
	}
	chosen, idle = rivalryIn(mainRun.History, mainRun.Verdict).witnesses(histories(reports), withoutOne, withoutAny)
	return chosen, idle, nil
}
