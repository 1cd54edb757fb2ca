package reports

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// What three clients or more do one right after the other is told once.
func TestTogether(t *testing.T) {
	const asks = "asks for the lock"
	type said struct {
		at   time.Duration
		who  string
		text string
	}
	for _, c := range []struct {
		name string
		told []said
		want []string
	}{
		{"three clients", []said{{1, "a", asks}, {2, "b", asks}, {3, "c", asks}},
			[]string{"1ns 3 clients each asks for the lock (a, b and c)"}},
		{"two clients", []said{{1, "a", asks}, {2, "b", asks}},
			[]string{"1ns a asks for the lock", "2ns b asks for the lock"}},
		{"many clients", []said{{1, "a", asks}, {2, "b", asks}, {3, "c", asks}, {4, "d", asks}, {5, "e", asks}},
			[]string{"1ns 5 clients each asks for the lock (a, b and 3 more)"}},
		{"some of them again", []said{{1, "a", asks}, {2, "b", asks}, {3, "c", asks}, {4, "b", asks}},
			[]string{"1ns 3 clients each asks for the lock; 4 times in all (a, b and c)"}},
		{"one client again and again", []said{{1, "a", asks}, {2, "a", asks}, {3, "a", asks}},
			[]string{"1ns a asks for the lock", "2ns a asks for the lock", "3ns a asks for the lock"}},
		{"something else in between", []said{{1, "a", asks}, {2, "b", asks}, {3, "c", "gets the lock"}, {4, "d", asks}},
			[]string{"1ns a asks for the lock", "2ns b asks for the lock", "3ns c gets the lock", "4ns d asks for the lock"}},
		{"a second in between", []said{{1, "a", asks}, {2, "b", asks}, {2 + time.Second, "c", asks}},
			[]string{"1ns a asks for the lock", "2ns b asks for the lock", "1.000000002s c asks for the lock"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var entries []entry
			for i, s := range c.told {
				entries = append(entries, entry{at: s.at, who: s.who, text: s.text, of: s.who + "/1", part: opens, first: i + 1, last: i + 1})
			}
			var got []string
			next := 1
			for _, e := range together(entries) {
				got = append(got, fmt.Sprintf("%v %s %s", e.at, e.who, e.text))
				if e.first != next {
					t.Errorf("%q begins with event %d, and the one before it ended with %d", e.text, e.first, next-1)
				}
				next = e.last + 1
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
