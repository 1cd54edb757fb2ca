package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/mutate"
	"github.com/locksim/locksim/internal/mutate/trial"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/reports"
)

// A mutation is a report of the command mutate: the mutants of a lock, which are copies with one
// mistake each, and the result of the lock's tests for each mutant.
type mutation struct {
	Schema string `json:"schema"`
	// Package is the import path of the tests, and Source that of the lock.
	Package string `json:"package"`
	Source  string `json:"source"`
	// Tried means that the tests were run on the mutants. Counted is how many mutants count:
	// all that compile. Caught is how many of these the tests have caught.
	Tried   bool          `json:"tried"`
	Caught  int           `json:"caught"`
	Counted int           `json:"counted"`
	Mutants []triedMutant `json:"mutants"`
	// Untried is how many further mutants were not tried because of an interrupt.
	Untried int `json:"untried,omitempty"`
}

// A triedMutant is a mutant and what its tests have shown.
type triedMutant struct {
	Operator string   `json:"operator"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Before   []string `json:"before"`
	After    []string `json:"after"`
	// Result is "" if the tests were not run. Test is the test that failed, and Why the
	// mistake that it shows.
	Result trial.Result `json:"result,omitempty"`
	Test   string       `json:"test,omitempty"`
	Why    string       `json:"why,omitempty"`

	mutant mutate.Mutant
}

// newMutation makes the mutants of a lock.
func newMutation(s *trial.Subject, operators []mutate.Operator) (*mutation, error) {
	m := &mutation{Schema: "locksim/mutate/v1", Package: s.Package, Source: s.Source}
	mutants, err := mutate.Mutants(s.Sources, operators)
	if err != nil {
		return nil, err
	}
	for _, one := range mutants {
		m.Mutants = append(m.Mutants, triedMutant{
			Operator: one.Operator, File: s.Place(one.File), Line: one.Line, Before: one.Before, After: one.After, mutant: one,
		})
	}
	if len(mutants) == 0 {
		return nil, errors.New("no mistake can be made in " + s.Source + ": no operator fits its code; if the lock is in another package, name that package with --source")
	}
	return m, nil
}

// files returns the names of those files of the lock in which a mutant differs from it.
func (m *mutation) files() (names []string) {
	for _, one := range m.Mutants {
		names = append(names, one.mutant.File)
	}
	return names
}

// count counts the results.
func (m *mutation) count() {
	m.Tried = true
	for _, one := range m.Mutants {
		if one.Result.IsCounted() {
			m.Counted++
		}
		if one.Result == trial.Caught || one.Result == trial.TimedOut {
			m.Caught++
		}
	}
}

// mutationFormats are the formats in which a mutation can be reported.
var mutationFormats = &reports.Subject[*mutation]{}

func init() {
	mutationFormats.Register(reports.Format[*mutation]{Name: "json", Title: "programs", Write: writeMutationJSON})
	mutationFormats.Register(reports.Format[*mutation]{Name: "text", Title: "people", Write: writeMutationText})
}

func writeMutationJSON(w io.Writer, m *mutation, _ reports.Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(m)
}

// writeMutationText writes a table of all mutants, the survivors and the score; or, if the
// mutants were not tried, how each differs from the lock.
func writeMutationText(w io.Writer, m *mutation, _ reports.Options) error {
	var b strings.Builder
	if !m.Tried {
		fmt.Fprintf(&b, "%s of %s:\n", story.Count(len(m.Mutants), "mutant"), m.Source)
		for _, one := range m.Mutants {
			b.WriteString("\n" + one.describe())
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	var rows [][]string
	for _, one := range m.Mutants {
		why := one.Why
		if one.Result != trial.DoesNotCompile && one.Test != "" {
			why = one.Test + ": " + why
		}
		rows = append(rows, []string{one.place(), one.Operator, string(one.Result), story.Visible(why)})
	}
	b.WriteString(columns([]string{"place", "mistake", "result", "first failure"}, rows))
	fmt.Fprintf(&b, "\ncaught %d of %d", m.Caught, m.Counted)
	if left := len(m.Mutants) - m.Counted; left > 0 {
		fmt.Fprintf(&b, "; %d more %s not compile", left, map[bool]string{true: "does", false: "do"}[left == 1])
	}
	if m.Untried > 0 {
		fmt.Fprintf(&b, "; interrupted before %s", story.Count(m.Untried, "more mutant"))
	}
	b.WriteString("\n")
	for _, one := range m.Mutants {
		if one.Result == trial.Survived {
			b.WriteString("\nsurvived: " + one.describe())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t triedMutant) place() string { return fmt.Sprintf("%s:%d", story.Visible(t.File), t.Line) }

// describe returns the place and the mistake of a mutant, and the lines that differ.
func (t triedMutant) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", t.place(), t.Operator)
	for _, line := range t.Before {
		fmt.Fprintf(&b, "  - %s\n", story.Visible(line))
	}
	for _, line := range t.After {
		fmt.Fprintf(&b, "  + %s\n", story.Visible(line))
	}
	return b.String()
}
