package trace

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// A Difference is an event that is not the same in two traces.
type Difference struct {
	// Event is its number; 0 if there is no difference.
	Event int
	// First and Then are the event in full as either trace has it.
	First, Then string
}

func (d Difference) String() string {
	return fmt.Sprintf("event %d\n  first: %s\n  then:  %s", d.Event, d.First, d.Then)
}

// FirstDifference compares two traces of what should be the same run: the first event
// that is not the same in both.
func FirstDifference(a, b *Trace) Difference {
	for i := range max(len(a.Events), len(b.Events)) {
		if i < min(len(a.Events), len(b.Events)) && reflect.DeepEqual(a.Events[i], b.Events[i]) {
			continue
		}
		return Difference{i + 1, a.show(i), b.show(i)}
	}
	return Difference{}
}

// show is one event in full.
func (t *Trace) show(i int) string {
	if i >= len(t.Events) {
		return "(the run had ended)"
	}
	text, err := json.Marshal(t.Events[i])
	if err != nil {
		panic(err) // an Event holds nothing that JSON cannot
	}
	return string(text)
}
