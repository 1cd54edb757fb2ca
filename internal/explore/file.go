package explore

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// scenarioFile writes a world as a scenario file that tells what happens in it: the
// faults, and a title, a story, witnesses and expectations made from the traces of its
// two runs. v is the world's base after its change. Running the
// file on the seed gives the world's own traces.
//
// kind is a lock to use in place of the file's own, which need not be registered; then
// only Go can run the file. A world whose lock hangs has no trace, so its file tells of
// the faults alone. The error is that of a world that cannot be made.
func scenarioFile(v *scenarios.Variant, w World, seed uint64, kind locks.Kind) (account, error) {
	return play{v, scenarios.RunOptions{Seed: seed, Kind: kind}}.file(w.Faults)
}

// file is the scenario file of the play with some faults.
func (p play) file(faults []Fault) (account, error) {
	d := story.Discovery{Lock: cmp.Or(p.options.Kind.Name, p.base.Lock), InGo: p.options.Kind.Name != "", Seed: p.options.Seed}
	doc := p.document(faults)
	runs, err := p.run(faults)
	if ending := sim.Ending(err); ending != nil {
		d.Conduct = ending.Rule
		var infos []trace.FaultInfo
		for _, f := range faults {
			infos = append(infos, f.Info())
		}
		says := tell(doc, d.Lock, story.TellFaults(infos, d.Conduct), nil)
		says.text, err = writePage(doc, d.Comments())
		return says, err
	} else if err != nil {
		return account{}, err
	}
	off, on := runs[0], runs[1]
	main := off
	if off.Verdict.Gravest() == "" && on.Verdict.Gravest() != "" {
		main = on
	}
	var witnesses []trace.Witness
	if witnesses, d.Idle, err = p.witnesses(faults, runs, main); err != nil {
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
	d.Open = expect(doc, runs)
	says.text, err = writePage(doc, d.Comments())
	return says, err
}

// An account is what is told of a world: its scenario file, the title without the name of
// the lock with which it begins, and the story.
type account struct {
	text         []byte
	title, story string
}

// titleWidth is how long a title is if it can be helped.
const titleWidth = 100

// tell gives a file its title, which begins with the name of the lock, and its story.
func tell(doc *scenarios.Document, lock string, paragraph *story.Paragraph, fenced *checks.Verdict) account {
	begins := lock + ": "
	title, text := paragraph.Title(fenced, titleWidth-utf8.RuneCountInString(begins)), paragraph.Text()
	say(doc, "title", story.Raw(begins)+title)
	say(doc, "story", text)
	return account{title: string(title), story: string(text)}
}

// say gives a field of a file words, if there are any.
func say(doc *scenarios.Document, field string, words story.Raw) {
	if words != "" {
		doc.Set(field, string(words))
	}
}

// assumption is what the faults of a run break, as a scenario says it; "" if that cannot be
// told.
func assumption(run scenarios.Outcome) trace.Assumption {
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

// expect says what the runs must come to: what they have come to. Of those that leave
// something open nothing is expected.
func expect(doc *scenarios.Document, runs []scenarios.Outcome) (open []story.OpenRun) {
	var all scenarios.Fields
	for _, run := range runs {
		if why := story.Undecided(run.Verdict); why != "" {
			open = append(open, story.OpenRun{Fencing: run.Fencing, Why: why})
			continue
		}
		var violated []string
		for _, f := range run.Verdict.Findings {
			if f.Counts() {
				violated = append(violated, string(f.Property))
			}
		}
		all = append(all, scenarios.Field{Name: run.Fencing, Value: scenarios.Fields{
			{Name: "verdict", Value: run.Verdict.Verdict}, {Name: "violated", Value: violated},
		}})
	}
	if len(all) > 0 {
		doc.Set("expect", all)
	}
	return open
}

// A play is a base that is run with some faults or others.
type play struct {
	base    *scenarios.Variant
	options scenarios.RunOptions
}

// ownWords are the fields in which a scenario speaks of itself: a file that is written
// anew has its own, or none.
var ownWords = []string{
	"group", "source", "assumption", "story", "question", "why", "prevention", "says", "faults", "witnesses", "measures",
	"expect", "expect-with", "lesson",
}

// withoutOwnWords is a scenario that says nothing of itself.
func withoutOwnWords(v *scenarios.Variant) *scenarios.Document {
	doc := v.Document()
	for _, field := range ownWords {
		doc.Delete(field)
	}
	return doc
}

// document is the base with some faults, as a draft that says nothing of itself.
func (p play) document(faults []Fault) *scenarios.Document {
	doc := withoutOwnWords(p.base)
	var list []scenarios.Fields
	for _, f := range faults {
		list = append(list, scenarios.FaultFields(f.Fault))
	}
	if len(list) > 0 {
		doc.Set("faults", list)
	}
	return doc
}

// run runs the base with some faults, without fencing tokens and with them.
func (p play) run(faults []Fault) ([]scenarios.Outcome, error) {
	s, err := scenarios.Parse("explored.yaml", p.document(faults).Bytes())
	if err != nil {
		return nil, err
	}
	result, err := scenarios.Run(s, p.options)
	if err != nil {
		return nil, err
	}
	return result.Runs, nil
}

// histories are those of the base with some faults. One that does not come to its end
// has none.
func (p play) histories(faults []Fault) ([]*history.History, error) {
	runs, err := p.run(faults)
	if sim.Ending(err) != nil {
		return nil, nil
	}
	return historiesOf(runs), err
}

func historiesOf(runs []scenarios.Outcome) []*history.History {
	var all []*history.History
	for _, run := range runs {
		all = append(all, run.History)
	}
	return all
}

// witnesses are those of a world, of which one run is told, and the faults that none of them
// needs, by number.
func (p play) witnesses(faults []Fault, runs []scenarios.Outcome, told scenarios.Outcome) (chosen []trace.Witness, idle []int, err error) {
	bare, err := p.histories(nil)
	if err != nil {
		return nil, nil, err
	}
	less := make([][]*history.History, len(faults))
	for i := range faults {
		less[i], err = p.histories(slices.Delete(slices.Clone(faults), i, i+1))
		if err != nil {
			return nil, nil, err
		}
	}
	chosen, idle = rivalryIn(told.History, told.Verdict).witnesses(historiesOf(runs), less, bare)
	return chosen, idle, nil
}
