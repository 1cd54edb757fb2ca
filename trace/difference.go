package trace

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// A Difference is the first event that differs between two traces.
type Difference struct {
	// Event is the number of the event, from 1; 0 if there is no difference.
	Event int
	// First and Second are the event as JSON, in the first and in the second trace.
	First, Second string
}

// String returns the event's number, and below it the event in both traces.
func (d Difference) String() string {
	return fmt.Sprintf("event %d\n  first: %s\n  then:  %s", d.Event, d.First, d.Second)
}

// FirstDifference compares two traces of what should be the same run, and returns the first
// event that differs.
func FirstDifference(a, b *Trace) Difference {
	for i := range max(len(a.Events), len(b.Events)) {
		if i < min(len(a.Events), len(b.Events)) && reflect.DeepEqual(a.Events[i], b.Events[i]) {
			continue
		}
		return Difference{i + 1, a.formatEvent(i), b.formatEvent(i)}
	}
	return Difference{}
}

// formatEvent returns the i-th event, counted from 0, as JSON.
func (t *Trace) formatEvent(i int) string {
	if i >= len(t.Events) {
		return "(the run had ended)"
	}
	text, err := json.Marshal(t.Events[i])
	if err != nil {
		panic(err) // an Event holds only values that JSON can express
	}
	return string(text)
}
