package trace

import (
	"fmt"
	"slices"
)

// A ParseError is the error for a text that is not a point, step, message or witness.
type ParseError struct {
	// Problem says what is wrong, and Forms shows what can be written instead.
	Problem, Forms string
}

// Error returns the problem and what can be written instead.
func (m *ParseError) Error() string { return m.Problem + ": " + m.Forms }

func newParseError(text, problem, forms string) error {
	return &ParseError{fmt.Sprintf("%q %s", text, problem), forms}
}

// A form is an example of the grammar, such as "CLIENT's key expired on NODE". Words in
// capitals are placeholders: [FormRoles] and [FormSteps] say what can take their place.

// PointForms returns the forms of a point, without a delay and without a suffix such as ",
// 2nd time".
func PointForms() []string {
	forms := []string{
		"the start", "CLIENT's keys expired", "CLIENT's key expired on NODE", "CLIENT holds NODE", "PROCESS's clock jumped",
		"storage applied CLIENT's REQUEST", "storage refused CLIENT's REQUEST", "storage checked CLIENT's REQUEST",
	}
	for _, v := range verbs {
		for word, roles := range placeholderRoles {
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

// MessageForms returns the forms of a [Message].
func MessageForms() []string {
	return []string{
		"CALLER's request to SERVER", "CALLER's STEP request to SERVER",
		"SERVER's reply to CALLER", "SERVER's reply to CALLER's STEP",
	}
}

// StepForms returns the forms of a [StepPoint].
func StepForms() []string { return []string{"CLIENT STEP"} }

// placeholderRoles maps each placeholder for a process to the roles that the process can
// have.
var placeholderRoles = map[string][]Role{"CLIENT": clientRoles, "CALLER": callerRoles, "NODE": nodeRoles, "SERVER": serverRoles, "PROCESS": anyRole}

// FormRoles returns the roles that a process can have in the place of a placeholder; no
// roles means any role. It returns false if the word is not a placeholder for a process.
func FormRoles(word string) ([]Role, bool) {
	roles, ok := placeholderRoles[word]
	return roles, ok
}

// FormSteps returns the steps that can take the place of a placeholder. For STEP these are
// all steps, for REQUEST the requests to the storage. It returns nil for any other word.
func FormSteps(word string) []Step {
	switch word {
	case "STEP":
		return Steps()
	case "REQUEST":
		return slices.DeleteFunc(Steps(), func(s Step) bool { return !s.AtStorage() })
	}
	return nil
}
