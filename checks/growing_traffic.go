package checks

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// growingTraffic is violated by critical sections that cost more than three times as many commands
// per attempt to acquire as the client's first sections. A client must have had a hundred
// sections; its first thirty are compared with its last thirty.
//
// An acquire that waits may ask again and again while another client holds the lock. The
// commands with which it asks do not count as growth.
const growingTraffic Property = "growing traffic"

var noGrowingTraffic = misconduct(Card{
	Property: growingTraffic, Gravity: 22,
	Title:  "a later section needs no more commands than the first sections",
	Broken: "sections need more and more commands",
	Label:  "growing traffic", Meaning: "the lock sends more and more commands for a section",
}, (*judgedRun).findGrowingTraffic)

// enoughSections is how many sections a client must have had for its traffic to be
// compared. comparedSections is how many of the first and of the last sections are
// compared.
const (
	enoughSections   = 100
	comparedSections = 30
)

// findGrowingTraffic finds sections that cost many more commands per attempt to acquire
// than the client's first sections.
func (h *judgedRun) findGrowingTraffic() (Reason, []int) {
	if len(h.Calls()) < enoughSections {
		return Reason{}, nil
	}
	// A tally has the numbers of a client's events: the commands that it sent, its calls of
	// acquire, and its calls of release, which end its sections.
	type tally struct{ sent, calls, ends []int }
	clients := map[string]*tally{}
	for _, p := range h.Trace.Processes {
		clients[p.Name] = &tally{}
	}
	for m := range h.Sends() {
		if t := clients[m.From]; t != nil && !m.Sent.Reply && !m.Sent.Handshake && m.To != trace.StorageName {
			t.sent = append(t.sent, m.Sent.Seq)
		}
	}
	for _, c := range h.Calls() {
		switch t := clients[c.Client]; {
		case t == nil || c.Began == nil:
		case c.Step == trace.Acquire:
			t.calls = append(t.calls, c.Began.Seq)
		case c.Step == trace.Release:
			t.ends = append(t.ends, c.Began.Seq)
		}
	}
	for _, p := range h.Trace.Processes {
		t := clients[p.Name]
		all := t.ends
		if len(all) < enoughSections {
			continue
		}
		between := func(from, to int) (sent, calls int) {
			return countBetween(t.sent, from, to), countBetween(t.calls, from, to)
		}
		first, firstCalls := between(all[0], all[comparedSections])
		last, lastCalls := between(all[len(all)-1-comparedSections], all[len(all)-1])
		if last*firstCalls > 3*first*lastCalls && h.growsWithoutWaiting(p.Name, all) {
			return trafficGrew.Reason(firstCalls, p.Name, first, lastCalls, last), []int{all[comparedSections], all[len(all)-1]}
		}
	}
	return Reason{}, nil
}

// growsWithoutWaiting reports whether a client's last sections cost more than three times as many
// commands as its first sections. It does not count the commands with which the client waited for
// the lock. ends are the Seqs at which the client called release.
func (h *judgedRun) growsWithoutWaiting(client string, ends []int) bool {
	var sent []int
	for m := range h.Sends() {
		if m.From == client && !m.Sent.Reply && !m.Sent.Handshake && m.To != trace.StorageName && !h.isWaiting(client, m.Sent) {
			sent = append(sent, m.Sent.Seq)
		}
	}
	first := countBetween(sent, ends[0], ends[comparedSections])
	last := countBetween(sent, ends[len(ends)-1-comparedSections], ends[len(ends)-1])
	return last > 3*first
}

// isWaiting reports whether a client was in a call of acquire at an event, while another
// client was in its section of the same lock.
func (h *judgedRun) isWaiting(client string, ev *trace.Event) bool {
	return slices.ContainsFunc(h.Calls(), func(c *history.Call) bool {
		if c.Client != client || c.Step != trace.Acquire || c.Began == nil || c.Began.Seq > ev.Seq || c.Ended != nil && c.Ended.Seq < ev.Seq {
			return false
		}
		return slices.ContainsFunc(h.Sections(), func(s *history.Section) bool {
			return s.Client != client && s.Lock == c.Lock && s.From.Before(history.MomentOf(ev)) && history.MomentOf(ev).Before(s.To)
		})
	})
}

// countBetween counts the numbers n of a sorted list with from ≤ n < to.
func countBetween(list []int, from, to int) int {
	i, _ := slices.BinarySearch(list, from)
	j, _ := slices.BinarySearch(list, to)
	return j - i
}
