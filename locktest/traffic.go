package locktest

import (
	"fmt"
	"time"

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
func growing(_ *subject, _ world, t *trace.Trace) (rule, why string, at []int) {
	// A count is how many commands a client has sent, and how often it has called
	// acquire, by the end of a section.
	type count struct{ seq, sent, calls int }
	now, ends := map[string]count{}, map[string][]count{}
	for i := range t.Events {
		ev := &t.Events[i]
		c := now[ev.Process]
		switch {
		case ev.Kind == trace.KindSend && !ev.Reply && !ev.Handshake && ev.Peer != trace.StorageName:
			c.sent++
		case ev.Kind == trace.KindBegin && ev.Step == trace.Acquire:
			c.calls++
		case ev.Kind == trace.KindBegin && ev.Step == trace.Release:
			c.seq = ev.Seq
			ends[ev.Process] = append(ends[ev.Process], c)
		}
		now[ev.Process] = c
	}
	for _, p := range t.Processes {
		all := ends[p.Name]
		if len(all) < enoughSections {
			continue
		}
		between := func(from, to count) (sent, calls int) { return to.sent - from.sent, to.calls - from.calls }
		first, firstCalls := between(all[0], all[compared])
		last, lastCalls := between(all[len(all)-1-compared], all[len(all)-1])
		if last*firstCalls > 3*first*lastCalls {
			return ruleGrowing, fmt.Sprintf("for %d calls of acquire and their sections %s sent %d commands, and for %d later ones %d",
				firstCalls, p.Name, first, lastCalls, last), []int{all[compared].seq, all[len(all)-1].seq}
		}
	}
	return "", "", nil
}

// inOneGo is how many commands one call may send without ever pausing for breath: no
// lock has so many nodes that it needs them for one attempt.
const (
	inOneGo = 150
	breath  = 5 * time.Millisecond
)

// breathless: retries without a pause, on one node or on several in turn.
func breathless(_ *subject, _ world, t *trace.Trace) (rule, why string, at []int) {
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
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Kind != trace.KindSend || ev.Reply || ev.Handshake || ev.Step == "" || ev.Peer == trace.StorageName {
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
			return ruleEndless, fmt.Sprintf("in one %s %s sent %d commands within %v and never waited for as long as %v",
				c.step, c.client, r.sent, ev.At-r.first.At, breath), []int{r.first.Seq, ev.Seq}
		}
	}
	return "", "", nil
}
