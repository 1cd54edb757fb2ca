package quiz

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/scenarios"
)

// questionsFile is the file questions.yaml.
//
//go:embed questions.yaml
var questionsFile []byte

// A Topic is a subject with its questions, in the order in which people should learn them.
type Topic struct {
	Name  string  `yaml:"topic"`
	Title string  `yaml:"title"`
	Items []*Item `yaml:"questions"`
}

// An Item is a question of questions.yaml: what is asked about which run, and what people can learn
// from it. No field has the answer, because the run gives the answer.
type Item struct {
	// Name never changes, so that links to a question stay valid.
	Name string `yaml:"name"`
	// Twelve is the number of the question in docs/questions.md; 0 if it is not there.
	Twelve int `yaml:"twelve"`
	// Title is the question as people ask it, or the myth as people tell it. Ask is the
	// setting in words.
	Title  string `yaml:"title"`
	IsMyth bool   `yaml:"myth"`
	Ask    string `yaml:"ask"`

	run  `yaml:",inline"`
	Form string `yaml:"form"`
	// Form is the kind of question. Of has the runs of a question of the form "which" or "compare",
	// which compare several runs. Which is the criterion of a question of the form "which", and
	// Figure the number that the forms "measure" and "compare" ask for.
	Of     []labelledRun `yaml:"of"`
	Which  criterion     `yaml:"which"`
	Figure figureName    `yaml:"figure"`

	// Tempting is a wrong number that many people give, for questions whose answer is a
	// number. It is among the answers that a class can vote for.
	Tempting string `yaml:"tempting"`
	// Why explains the answer, if the run alone does not show why. Judgement says whether a myth is
	// right.
	Why       string `yaml:"why"`
	Judgement string `yaml:"judgement"`

	Interviewer string `yaml:"interviewer"`
	FollowUp    string `yaml:"followup"`
	Trap        string `yaml:"trap"`
	Variation   trial  `yaml:"try"`
	Source      string `yaml:"source"`
}

// A run names one variant of a built-in scenario, with changes.
type run struct {
	Scenario string   `yaml:"scenario"`
	Variant  string   `yaml:"variant"`
	Lock     string   `yaml:"lock"`
	Set      []string `yaml:"set"`
}

// A labelledRun is one of several runs that a question compares.
type labelledRun struct {
	Label string `yaml:"label"`
	run   `yaml:",inline"`
}

// Topics returns the topics with their questions.
func Topics() []Topic { return slices.Clone(topics()) }

var topics = sync.OnceValue(func() []Topic {
	all, err := parseTopics(questionsFile)
	if err != nil {
		panic(err) // the file is embedded, and tests read it
	}
	return all
})

// parseTopics reads a file with topics, and refuses unknown fields.
func parseTopics(data []byte) ([]Topic, error) {
	var all []Topic
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("quiz: questions.yaml: %w", err)
	}
	return all, nil
}

// FindTopic returns the topic with the given name.
func FindTopic(name string) (Topic, bool) {
	i := slices.IndexFunc(topics(), func(t Topic) bool { return t.Name == name })
	if i < 0 {
		return Topic{}, false
	}
	return topics()[i], true
}

// FindItem returns the question with the given name, and its topic.
func FindItem(name string) (*Item, Topic, bool) {
	for _, t := range topics() {
		for _, item := range t.Items {
			if item.Name == name {
				return item, t, true
			}
		}
	}
	return nil, Topic{}, false
}

// runs returns the runs that a question is about, without their labels.
func (it *Item) runs() []run {
	if len(it.Of) == 0 {
		return []run{it.run}
	}
	var all []run
	for _, r := range it.Of {
		all = append(all, r.run)
	}
	return all
}

// Scenarios returns the names of the scenarios that answer the question, each once.
func (it *Item) Scenarios() []string {
	var names []string
	for _, r := range it.runs() {
		if !slices.Contains(names, r.Scenario) {
			names = append(names, r.Scenario)
		}
	}
	return names
}

// asker returns words that introduce the title: who says or asks it.
func (it *Item) asker() string {
	if it.IsMyth {
		return "People say"
	}
	return "An interviewer asks"
}

// labels returns the labels of the runs that a question compares.
func (it *Item) labels() []string {
	var all []string
	for _, r := range it.Of {
		all = append(all, r.Label)
	}
	return all
}

// open returns the scenario of a run, with only its variant and with its changes.
func (r run) open() (*scenarios.Scenario, error) {
	s, err := scenarios.Open(r.Scenario)
	if err != nil {
		return nil, err
	}
	if r.Variant != "" {
		if s, err = s.SelectVariant(r.Variant); err != nil {
			return nil, err
		}
	}
	if len(s.Variants) != 1 {
		return nil, fmt.Errorf("quiz: %s has several variants, and the question names none", r.Scenario)
	}
	return s.With(r.Set...)
}

// ask returns the question about the cases of the item's runs.
func (it *Item) ask(cases []*Case) (*Question, error) {
	for _, c := range cases {
		if !c.isDecided() {
			return nil, fmt.Errorf("quiz: %s: the run of %s is inconclusive", it.Name, c.Scenario.Name)
		}
	}
	var q *Question
	switch it.Form {
	case whichFormName:
		q = askWhich(it.Which, it.labels(), cases)
	case compareFormName:
		q = askCompare(it.Figure, it.labels(), cases)
	case measureFormName:
		q = askMeasure(it.Figure, cases[0])
	default:
		form, ok := findForm(it.Form)
		if !ok {
			return nil, fmt.Errorf("quiz: %s: there is no form %q", it.Name, it.Form)
		}
		q = form.Ask(cases[0])
	}
	if q == nil {
		return nil, fmt.Errorf("quiz: %s: the form %s does not apply to %s", it.Name, it.Form, cases[0].Scenario.Name)
	}
	if it.Tempting != "" {
		if q.Estimate == nil {
			return nil, fmt.Errorf("quiz: %s: tempting is a number, and the answer is none", it.Name)
		}
		tempting, err := q.Estimate.parse(it.Tempting)
		if err != nil {
			return nil, fmt.Errorf("quiz: %s: tempting is %q; write %w", it.Name, it.Tempting, err)
		}
		if q.Estimate.accepts(tempting) {
			return nil, fmt.Errorf("quiz: %s: the tempting answer %s is right", it.Name, it.Tempting)
		}
		q.Estimate.tempting = &tempting
	}
	return q, nil
}
