package locktest

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// What the lock's traffic says of its conduct, whatever the story.

// ruleGrowing is that the lock's traffic grows with what it has done before.
const ruleGrowing = "growing traffic"

// enoughSections is how many sections a client must have had for its traffic to be
// compared, and compared how many of the first and of the last are.
const (
	enoughSections = 100
	compared       = 30
)

// growing: sections that cost much more than the first ones did, for each attempt
// to get in.
func growing(_ *subject, _ world, h *history.History) (rule, why string, at []int) {
	// A tally has the commands that a client sent, its calls of acquire and the ends of its
	// sections, each as the Seq of its event.
	type tally struct{ sent, calls, ends []int }
	clients := map[string]*tally{}
	for _, p := range h.Trace.Processes {
		clients[p.Name] = &tally{}
	}
	for _, m := range h.Messages() {
		if !m.Sent.Reply && !m.Handshake() && m.To != trace.StorageName {
			clients[m.From].sent = append(clients[m.From].sent, m.Sent.Seq)
		}
	}
	for _, c := range h.Calls() {
		switch t := clients[c.Client]; c.Step {
		case trace.Acquire:
			t.calls = append(t.calls, c.Began.Seq)
		case trace.Release:
			t.ends = append(t.ends, c.Began.Seq)
		}
	}
	for _, p := range h.Trace.Processes {
		t := clients[p.Name]
		all := t.ends
		if len(all) < enoughSections {
			continue
		}
		between := func(from, to int) (sent, calls int) { return count(t.sent, from, to), count(t.calls, from, to) }
		first, firstCalls := between(all[0], all[compared])
		last, lastCalls := between(all[len(all)-1-compared], all[len(all)-1])
		if last*firstCalls > 3*first*lastCalls {
			return ruleGrowing, fmt.Sprintf("for %d calls of acquire and their sections %s sent %d commands, and for %d later ones %d",
				firstCalls, p.Name, first, lastCalls, last), []int{all[compared], all[len(all)-1]}
		}
	}
	return "", "", nil
}

// count counts the numbers between two others, of a list in order.
func count(list []int, from, to int) int {
	i, _ := slices.BinarySearch(list, from)
	j, _ := slices.BinarySearch(list, to)
	return j - i
}

// inOneGo is how many commands one call may send without ever pausing for breath: no
// lock has so many nodes that it needs them for one attempt.
const (
	inOneGo = 150
	breath  = 5 * time.Millisecond
)

// breathless: retries without a pause, on one node or on several in turn.
func breathless(_ *subject, _ world, h *history.History) (rule, why string, at []int) {
	type call struct {
		client  string
		section int
		step    trace.Step
	}
	type run struct {
		first, last *trace.Event
		sent        int
	}
	runs := map[call]run{}
	for _, m := range h.Messages() {
		ev := m.Sent
		if ev.Reply || ev.Handshake || ev.Step == "" || ev.Peer == trace.StorageName {
			continue
		}
		c := call{ev.Process, ev.Section, ev.Step}
		r := runs[c]
		if r.sent == 0 || ev.At-r.last.At > breath {
			r = run{first: ev}
		}
		r.last = ev
		r.sent++
		runs[c] = r
		if r.sent > inOneGo {
			return ruleEndless, fmt.Sprintf("in one %s %s sent %d commands within %s and never waited for as long as %v",
				c.step, c.client, r.sent, voice.Span(ev.At-r.first.At), breath), []int{r.first.Seq, ev.Seq}
		}
	}
	return "", "", nil
}
