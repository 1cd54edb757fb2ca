// Package snapshot describes one moment of a run: what each client does, and until when it holds
// the lock according to its own clock; who holds the lock according to its servers; and what the
// storage contains. It uses only what happened up to that moment.
package snapshot

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A Row describes one client, one lock or one object of the storage at one moment. State says what
// a client does, who holds a lock, or which version an object has. Holding says until when a client
// holds the lock according to its own clock, which keys a lock has, or with which token the version
// was written; "" if there is nothing to say.
type Row struct {
	Who, State, Holding story.Raw
}

// A Camera takes snapshots of one run.
type Camera struct {
	history  *history.History
	clients  []string
	calls    map[string][]*history.Call
	sections map[string][]*history.Section
	locks    []lock
	objects  []string
}

// NewCamera returns a camera. Its snapshots have a row for each of the given clients, for
// each lock whose keys are known, and for each object.
func NewCamera(h *history.History, clients []string) *Camera {
	c := &Camera{history: h, clients: clients, calls: map[string][]*history.Call{}, sections: map[string][]*history.Section{}}
	for _, call := range h.Calls() {
		c.calls[call.Client] = append(c.calls[call.Client], call)
	}
	for _, s := range h.Sections() {
		c.sections[s.Client] = append(c.sections[s.Client], s)
	}
	for _, l := range h.Trace.Locks {
		if len(l.Slots) == 0 && !l.GrantsEveryone {
			continue // the trace does not say who holds it
		}
		c.locks = append(c.locks, readLock(h, l))
	}
	for _, ev := range h.StorageDecisions() {
		if ev.Object != "" && !slices.Contains(c.objects, ev.Object) {
			c.objects = append(c.objects, ev.Object)
		}
	}
	return c
}

// At returns the rows at a moment. The rows of all moments are about the same clients, locks
// and objects, in the same order.
func (c *Camera) At(m history.Moment) []Row {
	var rows []Row
	for _, name := range c.clients {
		rows = append(rows, Row{story.Raw(story.Visible(name)), c.activity(name, m), c.lease(name, m)})
	}
	for _, l := range c.locks {
		rows = append(rows, l.at(m, len(c.locks) > 1))
	}
	for _, object := range c.objects {
		rows = append(rows, c.object(object, m))
	}
	return rows
}

// hasHappened reports whether an event happened up to a moment.
func hasHappened(ev *trace.Event, m history.Moment) bool {
	return ev != nil && !m.Before(history.MomentOf(ev))
}

// currentSection returns the client's latest critical section (the time from a grant to its
// release) that was granted up to a moment; nil if there is none.
func (c *Camera) currentSection(client string, m history.Moment) *history.Section {
	for _, s := range slices.Backward(c.sections[client]) {
		if !m.Before(s.From) {
			return s
		}
	}
	return nil
}

// activity says what a client does at a moment.
func (c *Camera) activity(client string, m history.Moment) story.Raw {
	text := c.work(client, m)
	if end, crashed := c.history.ProcessEnd(client); hasHappened(end, m) && !crashed {
		return "done"
	}
	for _, s := range c.history.Spells() {
		if s.Process == client && s.State != history.Failing && s.Interval().Contains(m) {
			if s.State == history.Paused && text != "" {
				return story.Raw(story.StateName(s)) + ", " + text
			}
			return story.Raw(story.StateName(s))
		}
	}
	return text
}

// work says how far a client has come with its section.
func (c *Camera) work(client string, m history.Moment) story.Raw {
	if s := c.currentSection(client, m); s != nil && m.Before(s.To) {
		text := "in its critical section"
		if s.Token() != 0 && slices.ContainsFunc(append(s.Minted, s.Granted), func(ev *trace.Event) bool { return ev.Token == s.Token() && hasHappened(ev, m) }) {
			text += ", token " + story.Token(s.Token())
		}
		return story.Raw(text)
	}
	var last *history.Call // the last acquire or release that began
	for _, call := range c.calls[client] {
		if (call.Step == trace.Acquire || call.Step == trace.Release) && hasHappened(call.Began, m) {
			last = call
		}
	}
	switch {
	case last == nil:
		return "has not asked for the lock"
	case last.Step == trace.Acquire && !hasHappened(last.Ended, m):
		return "asks for the lock"
	case last.Step == trace.Acquire && last.Failed():
		return "did not get the lock"
	case last.Step == trace.Release && !hasHappened(last.Ended, m):
		return "releases the lock"
	}
	return "out of its critical section"
}

// lease says until when a client holds the lock, according to its own clock and the
// notifications of the lock.
func (c *Camera) lease(client string, m history.Moment) story.Raw {
	switch belief, at := c.BeliefOf(client, m); {
	case belief == LostTheLock:
		return story.Raw("told at " + story.Time(at) + " that the lock is lost")
	case belief == HoldsTheLock && at >= history.Forever:
		return "holds the lock, without an end"
	case belief == HoldsTheLock:
		return story.Raw("holds the lock until " + story.Time(at))
	case belief == LeaseEnded:
		return story.Raw("its lease ended at " + story.Time(at))
	}
	return ""
}

// object says which version an object has, and who wrote it.
func (c *Camera) object(name string, m history.Moment) Row {
	row := Row{Who: story.Raw("storage, " + story.Visible(name)), State: "version 0"}
	made := func(v *history.Version) {
		row.State = story.Raw(fmt.Sprintf("version %d, by %s", v.Number, story.Visible(v.By.Client)))
		row.Holding = ""
		if v.Made.Token != 0 {
			row.Holding = story.Raw("written with token " + story.Token(v.Made.Token))
		}
	}
	latest := history.Moment{At: -1}
	for _, v := range c.history.Versions() {
		if v.Object == name && hasHappened(v.Made, m) {
			made(v)
			latest = history.MomentOf(v.Made)
		}
	}
	for _, ev := range c.history.Reverts() {
		if ev.Object != name || !hasHappened(ev, m) || history.MomentOf(ev).Before(latest) {
			continue
		}
		row.State, row.Holding = "version 0", ""
		if v := c.history.VersionAt(name, ev.Version, ev.Seq); v != nil && v.Made != nil {
			made(v)
		}
		row.State += ", after the storage lost a later one"
	}
	return row
}
