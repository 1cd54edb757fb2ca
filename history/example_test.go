package history_test

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// pausedHistory returns the history of a scenario in which a client is paused in its
// section until its lease has expired.
func pausedHistory() *history.History { return runScenario("gc-pause", "") }

// runScenario returns the history of a built-in scenario, without fencing tokens.
func runScenario(scenario, variant string) *history.History {
	s, err := scenarios.Open(scenario)
	if err == nil {
		s, err = s.SelectVariant(variant)
	}
	if err != nil {
		panic(err)
	}
	result, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	return result.Runs[0].History
}

// ms truncates a time to milliseconds, as reports show it.
func ms(t time.Duration) time.Duration { return t.Truncate(time.Millisecond) }

// The example prints when each client was in its section, and when its lease ended.
func ExampleHistory_Sections() {
	h := pausedHistory()
	for _, s := range h.Sections() {
		fmt.Printf("%s: section %v to %v, lease until %v, token %d\n", s.Client, ms(s.From.At), ms(s.To.At), ms(s.Lease.End().At), s.Token())
	}
	// Output:
	// client-1: section 8ms to 30.036s, lease until 29.698s, token 1
	// client-2: section 30.015s to 30.018s, lease until 30.018s, token 2
}

// A lease expired before its holder released it.
func ExampleSection_Lapses() {
	for _, s := range pausedHistory().Sections() {
		for _, l := range s.Lapses() {
			fmt.Printf("%s was in its section when its lease ran out at %v\n", s.Client, ms(l.At.At))
		}
	}
	// Output:
	// client-1 was in its section when its lease ran out at 29.698s
}

// Two sections of one lock run at the same time.
func ExampleOverlaps() {
	for _, o := range history.Overlaps(pausedHistory().Sections(), 10) {
		fmt.Printf("%s and %s, for %v\n", o.A.Client, o.B.Client, ms(o.To-o.From))
	}
	// Output:
	// client-1 and client-2, for 2ms
}

// When did a key exist whose node crashed? There are four answers: until when it was
// blocking other clients, when a client would have seen it, when it really existed,
// and until when its owner could rely on it.
func ExampleHolding() {
	k := runScenario("single-crash", "forgets").Holdings()[0]
	fmt.Printf("%s on %s, set %v, %s\n", k.Owner.Client, k.Node, ms(k.From.At), k.How)
	fmt.Printf("  blocking until %v\n", ms(k.Blocking().To.At))
	for _, v := range k.Visible() {
		fmt.Printf("  visible until %v\n", ms(v.To.At))
	}
	fmt.Printf("  there until %v\n", ms(k.Existence().To.At))
	fmt.Printf("  due until %v\n", ms(k.Due))
	// Output:
	// client-1 on redis-1, set 0s, forgotten
	//   blocking until 1.003s
	//   visible until 3ms
	//   there until 3ms
	//   due until 30s
}

// The example prints how long the nodes backed each grant.
func ExampleHistory_Backings() {
	h := pausedHistory()
	for _, s := range h.Sections() {
		for _, b := range h.Backings(s.Lock, s.Acquisition) {
			fmt.Printf("%s: %v to %v\n", s.Client, ms(b.From.At), ms(b.To.At))
		}
	}
	// Output:
	// client-1: 4ms to 30.004s
	// client-2: 30.011s to 30.027s
}

// The example prints when something happened that it names in the words of a scenario.
func ExampleHistory_Occurrences() {
	h := pausedHistory()
	for _, words := range []string{"client-1's keys expired", "client-2 acquired", "client-1 wrote"} {
		point, err := trace.ParsePoint(words)
		if err != nil {
			panic(err)
		}
		for _, ev := range h.Occurrences(point) {
			fmt.Printf("%s: %v\n", point, ms(ev.At))
		}
	}
	// Output:
	// client-1's keys expired: 30.007s
	// client-2 acquired: 30.015s
	// client-1 wrote: 30.036s
}

// A reader follows a run event by event and knows only the past. A world uses it in this
// way while it runs.
func ExampleKeys() {
	h := pausedHistory()
	slot := h.Slots("resource")[0]
	keys := history.NewKeys()
	for i := range h.Trace.Events {
		ev := &h.Trace.Events[i]
		for _, c := range keys.See(ev) {
			if c.Place != slot {
				continue
			}
			owner := "nobody"
			if k := keys.At(slot); k != nil {
				owner = k.Owner.Client
			}
			fmt.Printf("%v: %s has the key on %s\n", ms(ev.At), owner, slot.Node)
		}
	}
	// Output:
	// 0s: client-1 has the key on redis-1
	// 30s: nobody has the key on redis-1
	// 30.008s: client-2 has the key on redis-1
	// 30.021s: nobody has the key on redis-1
}
