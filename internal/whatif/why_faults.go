package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// mostNewFaults limits how many places of new faults of one kind are tried. In most
// scenarios there are fewer.
const mostNewFaults = 40

// A newFault is a fault that the scenario does not have, without its duration.
type newFault struct {
	// fields are the fields of the fault as a file has them, and text describes it.
	fields, text string
}

// value returns the fault as the value of an override.
func (n newFault) value(lasts time.Duration) string {
	return fmt.Sprintf("{%s, for: %s}", n.fields, trace.ShortDuration(lasts))
}

// tryNewFaults finds the shortest pause of a client and the shortest delay of one message
// that turn a verdict.
func (f *finder) tryNewFaults() error {
	pauses, messages := f.newFaults()
	for _, all := range [][]newFault{pauses, messages} {
		f.Untried += max(len(all)-mostNewFaults, 0)
		if err := f.tryShortest(all[:min(len(all), mostNewFaults)]); err != nil {
			return err
		}
	}
	return nil
}

// newFaults lists the pauses of clients before their steps, and the messages that can be
// late, with those to and from the storage first.
func (f *finder) newFaults() (pauses, messages []newFault) {
	begun := map[trace.StepPoint]int{}
	occasions := slices.Clone(f.history.Occasions())
	slices.SortStableFunc(occasions, func(a, b *history.Occasion) int { return cmp.Compare(storageFirst(a), storageFirst(b)) })
	for _, o := range occasions {
		switch {
		case o.StepCall != nil:
			step := trace.StepPoint{Client: o.Event.Process, Step: o.Event.Step}
			begun[step]++
			if n := begun[step]; n > 1 {
				step.Nth = n
			}
			pauses = append(pauses, newFault{
				fmt.Sprintf("before: %s, pause: %s", strconv.Quote(step.String()), step.Client),
				fmt.Sprintf("pause of %s before its %s", step.Client, nthStep(step)),
			})
		case !o.Arrived:
			text := o.Message.String()
			messages = append(messages, newFault{"hold: " + strconv.Quote(text), "delay of " + text})
		}
	}
	return pauses, messages
}

// nthStep returns a step without its client: "write, 2nd time".
func nthStep(p trace.StepPoint) string {
	text := string(p.Step)
	if p.Nth > 1 {
		text += ", " + trace.NthTime(p.Nth)
	}
	return text
}

// storageFirst orders messages to and from the storage before all others.
func storageFirst(o *history.Occasion) int {
	if o.Message.Peer == trace.StorageName {
		return 0
	}
	return 1
}

// tryShortest adds the shortest of the faults that turns a verdict.
func (f *finder) tryShortest(faults []newFault) error {
	ttl := f.history.Trace.Locks[0].TTL
	longest := int64(4 * ttl)
	path := fmt.Sprintf("faults[%d]", f.faults+1)
	var shortest *Turn
	for _, n := range faults {
		f.NewFaults++
		r := newRange(0, longest, duration)
		values := []int64{0, r.round(longest / 8), r.round(longest / 3), longest}
		if shortest != nil {
			// Whether a shorter one exists is all that matters now.
			values = []int64{0, longest}
		}
		bands, outcomes, _, err := f.tryValues(r, values, func(value int64) (at, text string) {
			if value == 0 {
				return path, removal // there is no such fault, so nothing is run
			}
			return path, n.value(time.Duration(value))
		})
		if err != nil {
			return err
		}
		for _, b := range bands {
			if b.Outcome != (change{}) && (shortest == nil || b.From < longest) {
				longest = b.From
				shortest = &Turn{Path: path, Value: n.value(time.Duration(b.From)), NewFault: n.text, Size: r.Format(b.From), Outcome: outcomes[b.From], distance: float64(b.From) / float64(ttl)}
				break
			}
		}
		if shortest != nil && longest <= r.Resolution {
			break
		}
	}
	if shortest != nil {
		f.Turns = append(f.Turns, *shortest)
	}
	return nil
}
