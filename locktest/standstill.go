package locktest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	voice "github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// mute: a call of the lock that asks no node anything about the lock for a TTL, and has not returned when
// the run is cut off, though nothing is wrong. Such a call waits for something in its own
// process. An acquire must wait while another client's grant stands, and it may wait while
// its own client is in a section of the same lock.
//
// A run whose preconditions have not come about for this reason is not unknown: it is the lock
// that has kept them from coming about.
func mute(_ *subject, _ world, h *history.History) (rule, why string, at []int) {
	over := h.Horizon()
	if over == nil {
		return "", "", nil
	}
	for _, c := range h.Calls() {
		if c.Began == nil || c.Ended != nil || c.Crashed != nil || !c.Step.AtLock() {
			continue
		}
		lock := c.Lock
		if s := h.Section(c.Acquisition); s != nil {
			lock = s.Lock
		}
		patience := cmp.Or(h.Lock(lock).TTL, longest)
		if over.At-c.Began.At < patience || !calmSince(h, c.Began, over) || c.Step == trace.Acquire && !free(h, c, over, patience) || asks(h, c, lock) {
			continue
		}
		if fate, _ := h.Fate(c.Client); fate != nil && fate.Seq < over.Seq {
			continue
		}
		return ruleHang, fmt.Sprintf("%s called %s at %s, sent nothing and still waited at %s, although nothing was wrong", c.Client, c.Step, voice.Time(c.Began.At), voice.Time(over.At)),
			[]int{c.Began.Seq, over.Seq}
	}
	return "", "", nil
}

// free says that when a run is cut off no grant of the lock has stood for some time that a
// call of acquire asks for, and that its own client is in no section of it.
func free(h *history.History, c *history.Call, over *trace.Event, long time.Duration) bool {
	since := history.StartOf(over.At - long)
	stands := func(k *history.Holding) bool {
		return h.Slots(c.Lock).Has(k.Place) && k.Owner != c.Acquisition && since.Before(k.Withheld().To)
	}
	in := func(s *history.Section) bool {
		return s.Lock == c.Lock && !s.To.Before(history.MomentOf(over)) && (s.Client == c.Client || len(h.Slots(c.Lock)) == 0)
	}
	return !slices.ContainsFunc(h.Holdings(), stands) && !slices.ContainsFunc(h.Sections(), in)
}

// asks says that a client has sent anything to a node since a call began, unless it is about
// another lock: the client may be in a section of that one.
func asks(h *history.History, c *history.Call, lock string) bool {
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		sent := m.Sent
		if m.From != c.Client || sent.Seq < c.Began.Seq || m.To == trace.StorageName || sent.Reply || sent.KeepAlive {
			return false
		}
		return names(h, m, lock) || !slices.ContainsFunc(h.Trace.Locks, func(l trace.LockInfo) bool { return names(h, m, l.Name) })
	})
}

// names says that a message names a key of a lock.
func names(h *history.History, m *history.Message, lock string) bool {
	return slices.ContainsFunc(h.Slots(lock), func(p history.Place) bool { return m.Names(p.Key) })
}
