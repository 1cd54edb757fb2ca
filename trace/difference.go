package trace

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// FirstDifference compares two traces of what should be the same run, and tells
// the first event that is not the same in both; "" if there is none.
func FirstDifference(a, b *Trace) string {
	for i := range max(len(a.Events), len(b.Events)) {
		if i < min(len(a.Events), len(b.Events)) && reflect.DeepEqual(a.Events[i], b.Events[i]) {
			continue
		}
		return fmt.Sprintf("event %d\n  first: %s\n  then:  %s", i+1, a.show(i), b.show(i))
	}
	return ""
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
