package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/story"
)

// matrixContents says which optional things occur in a matrix, so that the legend explains
// nothing else.
type matrixContents struct {
	// caveats are the properties that are violated in some safe run.
	caveats []checks.Property
	// hasNotApplicable reports whether an exclusion property (mutual exclusion of leases or
	// of critical sections) is not applicable to some run. hasChange reports whether the two runs of
	// some cell differ in such a property.
	hasNotApplicable, hasChange bool
	// hasUnknown reports whether some verdict is unknown, and hasUnrun whether some cell
	// has no runs.
	hasUnknown, hasUnrun bool
}

// contents returns what occurs in the matrix.
func (m *Matrix) contents() matrixContents {
	var s matrixContents
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			s.hasUnrun = s.hasUnrun || !c.hasRuns()
			s.hasUnknown = s.hasUnknown || c.hasRuns() && !c.isDecided()
			for _, run := range c.Runs {
				s.caveats = append(s.caveats, run.Verdict.Caveats()...)
			}
			for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
				outcomes := distinctOutcomes(c.Runs, p)
				s.hasChange = s.hasChange || len(outcomes) > 1
				s.hasNotApplicable = s.hasNotApplicable || slices.Contains(outcomes, checks.NotApplicable)
			}
		}
	}
	s.caveats = slices.DeleteFunc(checks.PropertiesOf(checks.SubjectConduct), func(p checks.Property) bool { return !slices.Contains(s.caveats, p) })
	return s
}

// outcomes explains the signs of outcomes, for the legend.
func (m *Matrix) outcomes(s matrixContents) string {
	text := "✓ holds, ✗ is violated"
	if len(m.Locks) > 0 {
		text = "✓ holds in both runs, ✗ is violated in at least one"
	}
	if s.hasNotApplicable {
		text += ", – not applicable: the run has nothing to judge"
	}
	if s.hasChange && len(m.Locks) == 0 {
		text += ", ✗→✓ is violated without fencing tokens and holds with them"
	}
	return text
}

// Explanations in the legend of a matrix.
const (
	aboutAssumptions = "what breaks: process (one is stopped), network (a message is late or lost), " +
		"clock (one is wrong), lock memory or storage memory (a server forgets)"
	aboutNoFencing     = "the verdict of the run in which the storage checks no fencing tokens"
	aboutFencing       = "the verdict of the same run if the storage checks them"
	aboutSafe          = "all properties of the data hold"
	aboutUndecided     = "the run is inconclusive; the list below says why"
	aboutNotApplicable = "the scenario does not apply to this lock, or was not run; the list below says why"
)

// aboutUnsafe explains the verdict unsafe.
func aboutUnsafe() string {
	return "a property of the data is violated: " + story.Alternatives(namesOf(checks.PropertiesOf(checks.SubjectData)))
}

// describeProperty returns the name of a property with its meaning.
func describeProperty(p checks.Property) string { return string(p) + ": " + p.Title() }

// aboutExclusions explains the signs of all exclusion properties in one cell.
func aboutExclusions() string {
	var all []string
	for _, p := range checks.PropertiesOf(checks.SubjectExclusion) {
		all = append(all, describeProperty(p))
	}
	return "first " + strings.Join(all, "; then ")
}

// aboutCaveat explains the sign of a safe run that violates the property p.
func aboutCaveat(p checks.Property) string {
	return fmt.Sprintf("all properties of the data hold, but %s (%s) is violated", p, p.Title())
}
