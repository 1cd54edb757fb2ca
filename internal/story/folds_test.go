package story

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// If three or more clients do the same in quick succession, one clause describes all of
// them.
func TestMergeClients(t *testing.T) {
	const asks = "asks for the lock"
	// clause is a clause before it is merged with others.
	type clause struct {
		at     time.Duration
		client string
		text   string
	}
	for _, c := range []struct {
		name    string
		clauses []clause
		want    []string
	}{
		{"three clients do the same", []clause{{1, "a", asks}, {2, "b", asks}, {3, "c", asks}},
			[]string{"1ns 3 clients each asks for the lock (a, b and c)"}},
		{"two clients do the same", []clause{{1, "a", asks}, {2, "b", asks}},
			[]string{"1ns a asks for the lock", "2ns b asks for the lock"}},
		{"five clients do the same", []clause{{1, "a", asks}, {2, "b", asks}, {3, "c", asks}, {4, "d", asks}, {5, "e", asks}},
			[]string{"1ns 5 clients each asks for the lock (a, b and 3 more)"}},
		{"three clients do the same, and one of them again", []clause{{1, "a", asks}, {2, "b", asks}, {3, "c", asks}, {4, "b", asks}},
			[]string{"1ns 3 clients each asks for the lock (a, b and c); together 4 times until 0.000s"}},
		{"one client does the same three times", []clause{{1, "a", asks}, {2, "a", asks}, {3, "a", asks}},
			[]string{"1ns a asks for the lock", "2ns a asks for the lock", "3ns a asks for the lock"}},
		{"another clause comes in between", []clause{{1, "a", asks}, {2, "b", asks}, {3, "c", "gets the lock"}, {4, "d", asks}},
			[]string{"1ns a asks for the lock", "2ns b asks for the lock", "3ns c gets the lock", "4ns d asks for the lock"}},
		{"a second passes in between", []clause{{1, "a", asks}, {2, "b", asks}, {2 + time.Second, "c", asks}},
			[]string{"1ns a asks for the lock", "2ns b asks for the lock", "1.000000002s c asks for the lock"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var clauses []Clause
			for i, s := range c.clauses {
				clauses = append(clauses, Clause{
					At: s.at, Subject: Raw(s.client), Predicate: Raw(s.text), OfStep: Step{history.Acquisition{Client: s.client, Section: 1}, trace.Acquire}, Part: StepBegins, First: i + 1, Last: i + 1,
				})
			}
			var got []string
			next := 1
			for _, c := range mergeClients(clauses) {
				got = append(got, fmt.Sprintf("%v %s %s", c.At, c.Subject, c.Predicate))
				if c.First != next {
					t.Errorf("the clause %q begins with event %d, want %d, after the last event of the clause before", c.Predicate, c.First, next)
				}
				next = c.Last + 1
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the merged clauses are %q, want %q", got, c.want)
			}
		})
	}
}

// A merged clause that lasts says when the last event happened: the last of several nodes, or
// the last time at one of them.
func TestLastOfMergedClauses(t *testing.T) {
	for _, test := range []struct {
		nodes []string
		want  Raw
	}{
		{[]string{"redis-1", "redis-2"}, "expired on redis-1 and redis-2; the last of them at 1.000s"},
		{[]string{"redis-1", "redis-1"}, "expired on redis-1 and redis-1; the last time at 1.000s"},
	} {
		var clauses []Clause
		for i, node := range test.nodes {
			clauses = append(clauses, Clause{At: time.Duration(i) * time.Second, mergeKey: "expired", items: []string{node}, merge: func(nodes []string) string { return "expired on " + List(nodes) }})
		}
		if got := mergeNeighbours(clauses); len(got) != 1 || got[0].Predicate != test.want {
			t.Errorf("%q: the merged clauses are %v, want %q", test.nodes, got, test.want)
		}
	}
}

// A round of clauses that repeats is shown once. Its repetitions may differ in times, and in
// how often something happened in a row.
func TestMergeRepetitions(t *testing.T) {
	extends := func(at int) Clause {
		return Clause{At: time.Duration(at) * time.Second, Subject: "a", Predicate: Raw(fmt.Sprintf("has extended its lease, lease until %d.000s", at+10))}
	}
	fails := func(at, times int) Clause {
		return Clause{At: time.Duration(at) * time.Second, Until: time.Duration(at+times) * time.Second, Subject: "b", Predicate: Raw(fmt.Sprintf("fails %d times", times))}
	}
	gets := func(at int) Clause {
		return Clause{At: time.Duration(at) * time.Second, Subject: "a", Predicate: Raw(fmt.Sprintf("gets the lock: token %d", at))}
	}
	for _, test := range []struct {
		name    string
		clauses []Clause
		want    []string
	}{
		{"two rows that alternate", []Clause{extends(0), fails(1, 3), extends(5), fails(6, 4), extends(11), fails(12, 3)},
			[]string{"0s a has extended its lease, lease until 10.000s", "1s b fails 3 times", "15s  much like the 2 rows from 0.000s to 1.000s, 2 more times until here"}},
		{"equal rows that alternate", []Clause{gets(7), fails(1, 3), gets(7), fails(1, 3), gets(7), fails(1, 3)},
			[]string{"7s a gets the lock: token 7", "1s b fails 3 times", "4s  the 2 rows from 7.000s to 1.000s happened 2 more times until here"}},
		{"one row", []Clause{extends(0), extends(5), extends(10)},
			[]string{"0s a has extended its lease, lease until 10.000s", "10s a much the same as in the row above, 2 more times until here"}},
		{"two repetitions", []Clause{extends(0), extends(5)},
			[]string{"0s a has extended its lease, lease until 10.000s", "5s a has extended its lease, lease until 15.000s"}},
		{"other tokens", []Clause{gets(1), gets(2), gets(3)},
			[]string{"1s a gets the lock: token 1", "2s a gets the lock: token 2", "3s a gets the lock: token 3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, c := range mergeRepetitions(test.clauses) {
				got = append(got, fmt.Sprintf("%v %s %s", c.At, c.Subject, c.Predicate))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the clauses are %q, want %q", got, test.want)
			}
		})
	}
}
