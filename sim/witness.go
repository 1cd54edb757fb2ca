package sim

import (
	"fmt"
	"slices"
	"strings"
)

// A Witness is something that must have happened for a verdict to mean anything:
//
//	POINT
//	POINT while PROCESS was paused | was down
//	POINT before POINT
//	POINT after POINT
type Witness struct {
	text   string
	point  Point
	other  Point  // of before and after
	before bool   // point comes before other, not after it
	while  string // a process
	down   bool   // while it was down, not paused
}

// ParseWitness reads a witness.
func ParseWitness(s string) (Witness, error) {
	w := Witness{text: strings.Join(strings.Fields(s), " ")}
	head := w.text
	if h, tail, ok := strings.Cut(w.text, " while "); ok {
		process, state, _ := strings.Cut(tail, " ")
		switch state {
		case "was paused":
		case "was down":
			w.down = true
		default:
			return w, fmt.Errorf("%q: after \"while\" there must be \"PROCESS was paused\" or \"PROCESS was down\", not %q", s, tail)
		}
		if owner, ok := strings.CutSuffix(process, "'s"); ok {
			return w, fmt.Errorf("%q: write %q, not %q", s, owner, process)
		}
		head, w.while = h, process
	} else {
		for _, conj := range []string{" before ", " after "} {
			h, tail, ok := strings.Cut(w.text, conj)
			if !ok {
				continue
			}
			var err error
			if w.other, err = ParsePoint(tail); err != nil {
				return w, err
			}
			head, w.before = h, conj == " before "
			break
		}
	}
	var err error
	if w.point, err = ParsePoint(head); err != nil {
		return w, err
	}
	for _, c := range slices.Concat(w.point.clauses, w.other.clauses) {
		if c.delay > 0 {
			return w, fmt.Errorf("%q: a witness is about what happened, so it cannot have a delay such as %v", s, c.delay)
		}
	}
	return w, nil
}

// String is the witness as it was written.
func (w Witness) String() string { return w.text }

// Names lists the processes that the witness speaks of.
func (w Witness) Names() []string {
	names := append(w.point.Names(), w.other.Names()...)
	if w.while != "" {
		names = append(names, w.while)
	}
	return names
}

// Fits is [Point.Fits] for every point of the witness.
func (w Witness) Fits(role func(name string) (Role, bool)) error {
	if err := w.point.Fits(role); err != nil {
		return err
	}
	return w.other.Fits(role)
}

// Seen says whether it happened.
func (w Witness) Seen(t *Trace) bool {
	_, seen := w.Reached(t)
	return seen
}

// Reached says whether it happened, and with which event, by its Seq.
func (w Witness) Reached(t *Trace) (event int, seen bool) {
	point := w.point.Matcher(t)
	other := w.other.Matcher(t)
	halted, one := false, false
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Process == w.while && w.while != "" {
			switch ev.Kind {
			case KindPause:
				halted = !w.down
			case KindCrash:
				halted = w.down
			case KindResume, KindRestart:
				halted = false
			}
		}
		first, second := point.Match(ev), other.Match(ev)
		if !w.before {
			first, second = second, first
		}
		switch {
		case w.other.IsZero():
			if w.point.IsZero() || (first || second) && (w.while == "" || halted) {
				return ev.Seq, true
			}
		case one && second:
			return ev.Seq, true
		}
		one = one || first
	}
	return 0, false
}
