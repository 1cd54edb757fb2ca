package rundiff

import (
	"strings"
	"unicode"

	"github.com/locksim/locksim/internal/story"
)

// A Row has two steps that correspond to each other, one of each run. If a step corresponds
// to no step of the other run, the row has only this step, and the other field is nil. A step
// is a clause of the story: one line of a timeline.
type Row struct{ Left, Right *story.Clause }

// IsSame reports whether both runs have the step, and its text is the same. Its times may
// differ.
func (r Row) IsSame() bool {
	return r.Left != nil && r.Right != nil && r.Left.Subject == r.Right.Subject && r.Left.Predicate == r.Right.Predicate
}

// CommonSteps returns the number of steps at the beginning that are equal in both runs, also
// in their times.
func CommonSteps(left, right []story.Clause) int {
	n := 0
	for n < min(len(left), len(right)) && left[n].At == right[n].At && (Row{&left[n], &right[n]}).IsSame() {
		n++
	}
	return n
}

// Align places the steps of two runs side by side. The steps of each run stay in their order. Of
// all ways to do so, Align takes one in which the likenesses of the pairs have the greatest sum, so
// that many steps correspond closely. Steps without a partner come in the order of their times.
// Time and memory grow with the product of the numbers of steps.
func Align(left, right []story.Clause) []Row {
	// best[i][j] is the likeness of the best alignment of left[i:] and right[j:].
	best := make([][]int32, len(left)+1)
	for i := range best {
		best[i] = make([]int32, len(right)+1)
	}
	leftKeys, rightKeys := keysOf(left), keysOf(right)
	likeness := func(i, j int) int32 { return leftKeys[i].likeness(rightKeys[j]) }
	for i := len(left) - 1; i >= 0; i-- {
		for j := len(right) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if like := likeness(i, j); like > 0 {
				best[i][j] = max(best[i][j], best[i+1][j+1]+like)
			}
		}
	}
	var rows []Row
	i, j := 0, 0
	for i < len(left) && j < len(right) {
		like := likeness(i, j)
		skipsLeft, skipsRight := best[i][j] == best[i+1][j], best[i][j] == best[i][j+1]
		switch {
		case like > 0 && best[i][j] == best[i+1][j+1]+like:
			rows = append(rows, Row{&left[i], &right[j]})
			i, j = i+1, j+1
		case skipsLeft && (!skipsRight || left[i].At <= right[j].At):
			rows = append(rows, Row{Left: &left[i]})
			i++
		default:
			rows = append(rows, Row{Right: &right[j]})
			j++
		}
	}
	for ; i < len(left); i++ {
		rows = append(rows, Row{Left: &left[i]})
	}
	for ; j < len(right); j++ {
		rows = append(rows, Row{Right: &right[j]})
	}
	return rows
}

// A key has the properties of a step by which Align compares it with the steps of the other
// run.
type key struct {
	subject story.Raw
	// text is the predicate, and shape the predicate without its numbers, because times and
	// versions often differ between runs.
	text  story.Raw
	shape string
	step  story.Step
	part  story.Part
}

func keysOf(steps []story.Clause) []key {
	keys := make([]key, len(steps))
	for i, c := range steps {
		keys[i] = key{c.Subject, c.Predicate, shapeOf(string(c.Predicate)), c.OfStep, c.Part}
	}
	return keys
}

// shapeOf returns a text without its numbers.
func shapeOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == '.' {
			return -1
		}
		return r
	}, text)
}

// likeness returns how closely two steps correspond, from 0 (not at all) to 4.
func (k key) likeness(o key) int32 {
	isSameStep := k.step == o.step && k.step != (story.Step{})
	switch {
	case k.subject != o.subject:
		return 0
	case k.text == o.text:
		return 4
	case k.shape == o.shape:
		return 3
	case isSameStep && k.part == o.part:
		return 2
	case isSameStep:
		return 1
	}
	return 0
}
