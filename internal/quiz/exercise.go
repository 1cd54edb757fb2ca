package quiz

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/setting"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// An Exercise is what is asked at one time: a question of questions.yaml, or the questions of all
// forms that apply to one variant of a scenario. (A form is a kind of question that can be asked of
// any scenario.) All its forecasts are given before its runs are shown.
type Exercise struct {
	// Topic is the topic under which the score counts the exercise: the topic of its question in
	// questions.yaml, or the name of its scenario.
	Topic string
	item  *Item
	// item is the question of questions.yaml; nil if there is none. Only then are the other fields
	// set: scenario has one variant, and argument is its name on the command line.
	scenario *scenarios.Scenario
	argument string
}

// OfTopic returns the exercises of a topic.
func OfTopic(t Topic) []*Exercise {
	var all []*Exercise
	for _, item := range t.Items {
		all = append(all, OfItem(item, t))
	}
	return all
}

// OfItem returns the exercise with a question of a topic.
func OfItem(item *Item, t Topic) *Exercise { return &Exercise{Topic: t.Name, item: item} }

// OfScenario returns an exercise for each variant of a scenario. argument is its name on the
// command line.
func OfScenario(s *scenarios.Scenario, argument string) ([]*Exercise, error) {
	var all []*Exercise
	for _, v := range s.Variants {
		one := s
		if len(s.Variants) > 1 {
			selected, err := s.SelectVariant(v.Name)
			if err != nil {
				return nil, err
			}
			one = selected
		}
		all = append(all, &Exercise{Topic: story.Visible(s.Name), scenario: one, argument: argument})
	}
	return all, nil
}

// Shuffle puts exercises into an order that the seed determines. An exercise that follows up the
// one before it stays behind that one.
func Shuffle(all []*Exercise, seed uint64) {
	var groups [][]*Exercise
	for i, e := range all {
		if i > 0 && e.followsUp(all[i-1]) {
			last := len(groups) - 1
			groups[last] = append(groups[last], e)
		} else {
			groups = append(groups, []*Exercise{e})
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	copy(all, slices.Concat(groups...))
}

// followsUp reports whether an exercise belongs to the same one of the twelve questions as the
// exercise before it.
func (e *Exercise) followsUp(before *Exercise) bool {
	return e.item != nil && before.item != nil && e.item.Twelve > 0 && e.item.Twelve == before.item.Twelve
}

// Locks returns the kinds of locks that the runs of the exercise need.
func (e *Exercise) Locks() ([]string, error) {
	if e.item == nil {
		return []string{e.scenario.Variants[0].Lock}, nil
	}
	var kinds []string
	for _, r := range e.item.runs() {
		s, err := r.open()
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, cmp.Or(r.Lock, s.Variants[0].Lock))
	}
	return kinds, nil
}

// title returns the heading of the exercise. It says nothing about the result: the title of a
// scenario often does, so a scenario is called by its name.
func (e *Exercise) title() string {
	if e.item != nil {
		return e.item.Title
	}
	v := e.scenario.Variants[0]
	if v.Name != "" {
		return story.Visible(v.Scenario) + ", variant " + story.Visible(v.Name)
	}
	return story.Visible(v.Scenario)
}

// command returns the command that asks the exercise again.
func (e *Exercise) command() string {
	if e.item != nil {
		return "locksim ask " + e.item.Name
	}
	line := "locksim ask " + reports.Operand(e.argument)
	if v := e.scenario.Variants[0]; v.Name != "" {
		line += " --variant " + story.ShellWord(v.Name)
	}
	for _, o := range e.scenario.Overrides {
		line += " --set " + story.ShellWord(o)
	}
	return line
}

// A round is an exercise whose cases were run: its questions, and what to show before and after
// them.
type round struct {
	*Exercise
	questions []*Question
	// asked are the questions of all forms about the case, if there is only one.
	asked []*Question
	cases []*Case
	// labels describe the cases, if there are several.
	labels []string
	// setting describes what the runs begin with, such as the lock, the clients and the
	// faults.
	setting []setting.Row
	// replays are the commands that run the cases.
	replays []string
}

// prepare runs the cases of the exercise and makes its questions.
func (e *Exercise) prepare() (*round, error) {
	r := &round{Exercise: e}
	refs := []run{{}}
	if e.item != nil {
		refs, r.labels = e.item.runs(), e.item.labels()
	}
	for _, ref := range refs {
		s, argument := e.scenario, e.argument
		if e.item != nil {
			opened, err := ref.open()
			if err != nil {
				return nil, err
			}
			s, argument = opened, ref.Scenario
		}
		c, err := RunCase(s, ref.Lock)
		if err != nil {
			return nil, fmt.Errorf("locksim ask: %w", err)
		}
		r.cases = append(r.cases, c)
		r.replays = append(r.replays, replayCommand(s, ref.Lock, argument))
	}
	if len(r.cases) == 1 {
		r.asked = askForms(r.cases[0])
	}
	if e.item != nil {
		q, err := e.item.ask(r.cases)
		if err != nil {
			return nil, err
		}
		r.questions = append(r.questions, q)
	} else {
		r.questions = slices.Clone(r.asked)
	}
	if len(r.cases) == 1 {
		r.setting = setting.DescribeForQuestion(r.cases[0].Off, worldSeed, r.isAnswer)
	}
	return r, nil
}

// askForms returns the questions of all forms about a case. It leaves out a second question about
// the same moment, because readers could derive the answer to one of them from the other.
func askForms(c *Case) []*Question {
	var asked []*Question
	for _, f := range forms {
		q := f.Ask(c)
		if q == nil || q.moment > 0 && slices.ContainsFunc(asked, func(o *Question) bool { return o.moment == q.moment }) {
			continue
		}
		asked = append(asked, q)
	}
	return asked
}

// isAnswer reports whether a time would be graded as a right answer to a question of the round, or
// to any question of a form about its case, because that question may be asked later.
func (r *round) isAnswer(d time.Duration) bool {
	return slices.ContainsFunc(slices.Concat(r.questions, r.asked), func(q *Question) bool {
		e := q.Estimate
		return e != nil && e.Unit == Times && !e.IsNever && e.accepts(guess{value: d})
	})
}

// replayCommand returns the command that runs a case again.
func replayCommand(s *scenarios.Scenario, lock, argument string) string {
	return reports.Replay(s, scenarios.RunOptions{Seed: worldSeed, Lock: lock}, reports.Options{Arguments: map[*scenarios.Scenario]string{s: argument}})
}
