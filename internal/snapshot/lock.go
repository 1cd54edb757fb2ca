package snapshot

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/trace"
)

// A lock has the keys of one lock, and for each acquisition (one call of acquire) the
// backings: the intervals in which a quorum of servers kept its grant.
type lock struct {
	trace.LockInfo
	keys []*history.Holding
	// owners are the acquisitions with keys, in the order of their first keys.
	owners   []history.Acquisition
	backings map[history.Acquisition][]history.Backing
}

// readLock reads the keys of a lock.
func readLock(h *history.History, info trace.LockInfo) lock {
	l := lock{LockInfo: info, backings: map[history.Acquisition][]history.Backing{}}
	for _, k := range h.Holdings() {
		if !slices.ContainsFunc(info.Slots, func(s trace.SlotInfo) bool { return s.Key == k.Key }) {
			continue
		}
		l.keys = append(l.keys, k)
		if _, known := l.backings[k.Owner]; !known {
			l.owners = append(l.owners, k.Owner)
			l.backings[k.Owner] = h.Backings(info.Name, k.Owner)
		}
	}
	return l
}

// at says who holds the lock at a moment, as its servers see it. named makes the row name the lock,
// because the run has several.
func (l lock) at(m history.Moment, named bool) Row {
	row := Row{Who: "lock", State: "held by nobody"}
	if named {
		row.Who = story.Raw("lock " + story.Visible(l.Name))
	}
	if l.GrantsEveryone {
		row.State = "granted to everybody"
		return row
	}
	existing := map[history.Acquisition]int{}
	for _, k := range l.keys {
		if k.Existence().Contains(m) {
			existing[k.Owner]++
		}
	}
	holders := l.holders(m)
	var keys []string
	for _, owner := range l.owners {
		name := nameOfOwner(owner)
		if n := existing[owner]; n > 0 && len(l.Slots) > 1 {
			keys = append(keys, fmt.Sprintf("%s key on %d of %d", story.Possessive(name), n, len(l.Slots)))
		} else if n > 0 {
			keys = append(keys, story.Possessive(name)+" key")
		}
	}
	if len(holders) > 0 {
		row.State = story.Raw("held by " + story.List(holders))
	}
	row.Holding = story.Raw(story.List(keys))
	return row
}

// holders returns the clients that hold the lock at a moment, as its servers see it.
func (l lock) holders(m history.Moment) []string {
	var names []string
	for _, owner := range l.owners {
		isBacked := slices.ContainsFunc(l.backings[owner], func(b history.Backing) bool { return b.Contains(m) })
		if name := nameOfOwner(owner); isBacked && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// nameOfOwner returns the name of the client that made an acquisition.
func nameOfOwner(owner history.Acquisition) string {
	if owner.Client == "" {
		return "nobody known"
	}
	return story.Visible(owner.Client)
}

// HoldersOf returns the clients that hold a lock at a moment, as its servers see it. ok is
// false if the trace does not say who holds it, or if the lock is granted to everybody.
func (c *Camera) HoldersOf(name string, m history.Moment) (clients []string, ok bool) {
	for _, l := range c.locks {
		if l.Name == name && !l.GrantsEveryone {
			return l.holders(m), true
		}
	}
	return nil, false
}
