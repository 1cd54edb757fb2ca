package trace

import (
	"fmt"
	"slices"
)

// A Misread is the error for words that are no point, step, message or witness.
type Misread struct {
	// Problem says what is wrong, and Forms what could be written.
	Problem, Forms string
}

func (m *Misread) Error() string { return m.Problem + ": " + m.Forms }

func misread(text, problem, forms string) error {
	return &Misread{fmt.Sprintf("%q %s", text, problem), forms}
}

// The forms of what stories are told with are lists of examples in which words in
// capitals stand for others: see [FormRoles] and [FormSteps].

// PointForms are the forms of a point that happens once, without a delay.
func PointForms() []string {
	forms := []string{
		"the start", "CLIENT's keys expired", "CLIENT's key expired on NODE", "CLIENT holds NODE", "PROCESS's clock jumped",
		"storage applied CLIENT's REQUEST", "storage refused CLIENT's REQUEST", "storage checked CLIENT's REQUEST",
	}
	for _, v := range verbs {
		for word, roles := range formRoles {
			if slices.Equal(roles, v.roles) {
				forms = append(forms, word+" "+string(v.verb))
			}
		}
	}
	messages := append(MessageForms(),
		"every reply to CLIENT", "every reply to CLIENT's STEP", "every request of CLIENT", "every request of CLIENT's STEP")
	for _, m := range messages {
		forms = append(forms, m+" is in flight", m+" arrived")
	}
	return forms
}

// MessageForms are the forms of a [Message].
func MessageForms() []string {
	return []string{
		"CALLER's request to SERVER", "CALLER's STEP request to SERVER",
		"SERVER's reply to CALLER", "SERVER's reply to CALLER's STEP",
	}
}

// StepForms are the forms of a [StepPoint].
func StepForms() []string { return []string{"CLIENT STEP"} }

var formRoles = map[string][]Role{"CLIENT": ofClient, "CALLER": ofCaller, "NODE": ofNode, "SERVER": ofServer, "PROCESS": ofAny}

// FormRoles says of which roles a process can be that a word in a form stands for; none
// is any. It is false for a word that stands for no process.
func FormRoles(word string) ([]Role, bool) {
	roles, ok := formRoles[word]
	return roles, ok
}

// FormSteps are the steps that a word in a form stands for: those of STEP, or those that
// are a REQUEST to the storage; none for any other word.
func FormSteps(word string) []Step {
	switch word {
	case "STEP":
		return Steps()
	case "REQUEST":
		return slices.DeleteFunc(Steps(), func(s Step) bool { return !s.AtStorage() })
	}
	return nil
}
