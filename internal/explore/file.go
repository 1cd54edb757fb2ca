package explore

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

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
	p := play{text: v.Document().Bytes(), options: scenarios.RunOptions{Seed: seed, Kind: kind}}
	return p.file(w.Faults)
}

// file is the scenario file of the play with some faults.
func (p play) file(faults []Fault) (account, error) {
	draft, err := p.document(faults)
	if err != nil {
		return account{}, err
	}
	file, err := newPage(draft)
	if err != nil {
		return account{}, err
	}
	runs, err := p.run(faults)
	if conduct := sim.Conduct(err); conduct != "" {
		file.origin(p.lock(), p.options)
		file.comment("It cannot be run to its end: %s.", conduct)
		var infos []trace.FaultInfo
		for _, f := range faults {
			infos = append(infos, f.Info())
		}
		says := file.tell(p.lock(), story.TellFaults(infos, conduct), nil)
		says.text = file.write()
		return says, nil
	} else if err != nil {
		return account{}, err
	}
	off, on := runs[0], runs[1]
	main := off
	if off.Verdict.Gravest() == "" && on.Verdict.Gravest() != "" {
		main = on
	}
	witnesses, idle, err := p.witnesses(faults, runs, main)
	if err != nil {
		return account{}, err
	}
	file.origin(off.Lock, p.options)
	for _, fault := range idle {
		file.comment("Without fault %d every witness is still seen: it changes no order of events that a witness can tell.", fault)
	}
	paragraph := story.Tell(main.History, main.Verdict)
	says := file.tell(off.Lock, paragraph, on.Verdict)
	file.say("assumption", story.Raw(assumption(main)))
	file.say("why", paragraph.Why(off.Verdict, on.Verdict))
	file.say("lesson", paragraph.Lesson(off.Verdict, on.Verdict, on.History))
	if len(witnesses) > 0 {
		var texts []string
		for _, w := range witnesses {
			texts = append(texts, w.String())
		}
		file.set("witnesses", listNode(texts))
	}
	file.expect(runs)
	says.text = file.write()
	return says, nil
}

// An account is what is told of a world: its scenario file, the title without the name of
// the lock with which it begins, and the story.
type account struct {
	text         []byte
	title, story string
}

// titleWidth is how long a title is if it can be helped.
const titleWidth = 100

// tell gives the file its title, which begins with the name of the lock, and its story.
func (p *page) tell(lock string, paragraph *story.Paragraph, fenced *checks.Verdict) account {
	begins := lock + ": "
	title, text := paragraph.Title(fenced, titleWidth-utf8.RuneCountInString(begins)), paragraph.Text()
	p.say("title", story.Raw(begins)+title)
	p.say("story", text)
	return account{title: string(title), story: string(text)}
}

// say gives a field of the file words, if there are any.
func (p *page) say(field string, words story.Raw) {
	if words != "" {
		p.set(field, stringNode(string(words)))
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

// origin says at the top of the file where it comes from and how to run it.
func (p *page) origin(lock string, o scenarios.RunOptions) {
	p.comment("Found by locksim explore --lock %s.", lock)
	if o.Kind.Name != "" {
		p.comment("The lock %s is not registered: run it from Go, with scenarios.RunOptions{Seed: %d, Kind: ...}.", lock, o.Seed)
		return
	}
	run := "locksim run FILE"
	if o.Seed != 1 {
		run += fmt.Sprintf(" --seed %d", o.Seed)
	}
	p.comment("Run it with: %s", run)
}

// expect says what the runs must come to: what they have come to. Of a run that
// leaves something open nothing is expected.
func (p *page) expect(runs []scenarios.Outcome) {
	expect := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, run := range runs {
		if open := undecided(run.Verdict); open != "" {
			p.comment("Nothing is expected of the run with fencing %s: %s.", run.Fencing, open)
			continue
		}
		var violated []string
		for _, f := range run.Verdict.Findings {
			if f.Counts() {
				violated = append(violated, string(f.Property))
			}
		}
		expect.Content = append(expect.Content, stringNode(run.Fencing), &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
			stringNode("verdict"), stringNode(run.Verdict.Verdict), stringNode("violated"), listNode(violated),
		}})
	}
	if len(expect.Content) > 0 {
		p.set("expect", expect)
	}
}

// undecided says what a verdict leaves open, or "".
func undecided(v *checks.Verdict) string {
	if len(v.Reasons) > 0 {
		return story.InFull.Reason(v.Reasons[0])
	}
	for _, f := range v.Findings {
		if f.Outcome == checks.Unknown && !f.Property.Card().ReportOnly {
			return fmt.Sprintf("%s is unknown, as %s", f.Property, story.InFull.Reason(f.Reason))
		}
	}
	return ""
}

// A play is a base that is run with some faults or others.
type play struct {
	text    []byte
	options scenarios.RunOptions
}

// ownWords are the fields in which a scenario speaks of itself: a file that is written
// anew has its own, or none.
var ownWords = []string{
	"group", "source", "assumption", "story", "question", "why", "prevention", "says", "faults", "witnesses", "measures",
	"expect", "expect-with", "lesson",
}

// document is the base with some faults, as a draft that says nothing of itself.
func (p play) document(faults []Fault) (*scenarios.Document, error) {
	v, err := parseOne("explored", p.text)
	if err != nil {
		return nil, err
	}
	doc := v.Document()
	for _, field := range ownWords {
		doc.Delete(field)
	}
	var list []scenarios.Fields
	for _, f := range faults {
		list = append(list, scenarios.FaultFields(f.Fault))
	}
	if len(list) > 0 {
		doc.Set("faults", list)
	}
	return doc, nil
}

// lock is the kind of lock.
func (p play) lock() string {
	if p.options.Kind.Name != "" {
		return p.options.Kind.Name
	}
	v, err := parseOne("explored", p.text)
	if err != nil {
		return ""
	}
	return v.Lock
}

// run runs the base with some faults, without fencing tokens and with them.
func (p play) run(faults []Fault) ([]scenarios.Outcome, error) {
	doc, err := p.document(faults)
	if err != nil {
		return nil, err
	}
	s, err := scenarios.Parse("explored.yaml", doc.Bytes())
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
	if sim.Conduct(err) != "" {
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
