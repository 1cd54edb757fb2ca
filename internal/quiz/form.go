// Package quiz asks for forecasts of what runs show, and grades them. A form is a kind of
// question that can be asked of any scenario. Its answer is computed from the traces of the
// runs alone. Each question of questions.yaml also says what people can learn from it.
package quiz

import (
	"slices"
	"time"
)

// A Form is a kind of question.
type Form struct {
	Name string
	// Title says in a few words what the form asks for.
	Title string
	// ask returns the question about a case, which is one variant of a scenario with its two
	// runs; nil if the form does not apply to it.
	ask func(*Case) *Question
}

// Ask returns the question that the form asks about a case; nil if the form does not apply to
// the case.
func (f Form) Ask(c *Case) *Question {
	if !c.isDecided() {
		return nil
	}
	q := f.ask(c)
	if q != nil {
		q.Form = f.Name
	}
	return q
}

// forms lists the forms that can be asked of any scenario, in the order in which they are
// asked. Those that the setting alone helps to answer come first.
var forms = []Form{verdictForm, breakForm, holderForm, nextForm, refusalForm, beliefForm}

// Forms returns the forms that can be asked of any scenario.
func Forms() []Form { return slices.Clone(forms) }

// findForm returns the form with the given name.
func findForm(name string) (Form, bool) {
	i := slices.IndexFunc(forms, func(f Form) bool { return f.Name == name })
	if i < 0 {
		return Form{}, false
	}
	return forms[i], true
}

// A Question is a question about a case, with the answer that its runs give. It has either
// choices or an estimate.
type Question struct {
	// Form is the name of the form.
	Form string
	// Text is the question. Terms says what the words of the question mean; "" if that is
	// clear.
	Text, Terms string
	// Choices are the possible answers, in the order in which they are shown.
	Choices []Choice
	// IsSet says that the answer is a set of choices: none of them, one or several.
	IsSet bool
	// Estimate is the right number; nil if the question has choices.
	Estimate *Estimate
	// moment is the moment that the question is about; 0 if it is about none.
	moment time.Duration
	// Reason says what in the run makes the answer right; "" if the answer itself says so.
	Reason string
}

// A Choice is one possible answer.
type Choice struct {
	Text string
	// IsRight says that the choice is the right answer, or that the right set contains it. IsClose
	// says that a part of the choice is right. Remark says which part, and is shown with the
	// result.
	IsRight, IsClose bool
	Remark           string
}

// rightChoices returns the numbers of the right choices.
func (q *Question) rightChoices() []int {
	var right []int
	for i, c := range q.Choices {
		if c.IsRight {
			right = append(right, i)
		}
	}
	return right
}
