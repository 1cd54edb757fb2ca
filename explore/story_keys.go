package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// standing are the nodes on which keys of an acquisition stand now. One that is down
// counts: nobody else can be granted what it holds.
func (t *tale) standing(id history.Acquisition) []string {
	var nodes []string
	for _, h := range t.history.Holdings() {
		if h.Owner == id && h.Withheld().Has(t.now) && slices.Contains(t.nodes, h.Node) {
			nodes = append(nodes, h.Node)
		}
	}
	return nodes
}

// key tells what becomes of the keys of the cast.
func (t *tale) key(c history.Change) {
	if !slices.Contains(t.nodes, c.Node) || ownerOf(c) == (history.Acquisition{}) {
		return
	}
	if !t.cast[ownerOf(c)] && (c.Was == nil || !t.cast[c.Was.Owner]) {
		return
	}
	switch {
	case c.Is == nil && c.Was.How == history.Expired:
		t.expired = append(t.expired, c)
	case meddles(c):
		t.foreign = append(t.foreign, c)
	case c.Is != nil && !c.Touch && c.Is.By != nil && t.ended[c.Is.Owner]:
		if worst := gravest(t.verdict); !worst.Data() && worst != checks.GrantOrder { // else it is beside the point
			t.late = append(t.late, c)
		}
	}
}

// ownerOf is whose a key is that has changed, or was if it is gone.
func ownerOf(c history.Change) history.Acquisition {
	switch {
	case c.Is != nil:
		return c.Is.Owner
	case c.Was != nil:
		return c.Was.Owner
	}
	return history.Acquisition{}
}

// meddles says that a client's command did something to another one's key.
func meddles(c history.Change) bool {
	return c.Was != nil && c.Event.By != nil && c.Event.By.Client != c.Was.Owner.Client &&
		(c.Touch || c.Was.How == history.Overwritten || c.Was.How == history.Removed)
}

// early says that a key expired before its time.
func early(c history.Change) bool { return c.At < c.Due-rounding }

// A node counts in whole milliseconds, so that keys end a little early.
const rounding = 5 * time.Millisecond

// flush tells what was put off in order to be told of all nodes at once.
func (t *tale) flush() {
	expired, foreign, late := t.expired, t.foreign, t.late
	t.expired, t.foreign, t.late = nil, nil, nil
	for len(expired) > 0 {
		first := expired[0]
		owner, early := first.Was.Owner, early(first)
		var nodes []string
		nodes, expired = gather(expired, func(c history.Change) bool { return c.Was.Owner == owner })
		keys, does := "key", "expires"
		if len(nodes) > 1 {
			keys, does = "keys", "expire"
		}
		if len(t.standing(owner)) > 0 {
			keys += t.on(nodes)
		}
		if early && t.hasJustJumped() {
			does += " at once"
		} else if early {
			does += " too early"
		}
		t.add(clause{subject: story.Subject{Process: owner.Client, Thing: keys}, does: does, leads: !early, follows: early})
	}
	for len(late) > 0 {
		owner := late[0].Is.Owner
		var nodes []string
		nodes, late = gather(late, func(c history.Change) bool { return c.Is.Owner == owner })
		t.add(clause{subject: story.Subject{Process: owner.Client, Thing: "key"}, does: "is set only now" + t.on(nodes)})
	}
	for len(foreign) > 0 {
		first := foreign[0]
		var nodes []string
		nodes, foreign = gather(foreign, func(c history.Change) bool {
			return c.Event.Kind == first.Event.Kind && *c.Event.By == *first.Event.By
		})
		if first.Is == nil && !t.ended[first.Was.Owner] {
			t.add(clause{subject: story.Subject{Process: first.Was.Owner.Client, Thing: "key"}, does: "is set", leads: true})
		}
		n := len(t.clauses)
		own := n > 0 && t.clauses[n-1].subject == story.Subject{Process: first.Event.By.Client}
		t.add(clause{subject: t.command(first), does: meddling(first) + t.on(nodes), follows: own})
	}
}

// hasJustJumped says that the last clause tells of a clock that is set.
func (t *tale) hasJustJumped() bool {
	return len(t.clauses) > 0 && t.clauses[len(t.clauses)-1].fault == trace.SetsClock
}

// gather takes those of some changes out that are alike: their nodes, and the rest.
func gather(all []history.Change, alike func(history.Change) bool) (nodes []string, rest []history.Change) {
	for _, c := range all {
		if alike(c) {
			nodes = append(nodes, c.Node)
		} else {
			rest = append(rest, c)
		}
	}
	return nodes, rest
}

// command is what changed a key.
func (t *tale) command(c history.Change) story.Subject {
	by := story.Subject{Process: c.Event.By.Client}
	if sent := t.history.Event(c.Event.By.Sent); sent != nil {
		switch sent.Step {
		case trace.Release:
			by.Thing = "release"
		case trace.Extend:
			by.Thing = "extension"
		}
	}
	return by
}

// meddling is what a command does to somebody else's key.
func meddling(c history.Change) string {
	verb := "removes %s's key"
	switch {
	case c.Touch:
		verb = "changes the expiry of %s's key"
	case c.Is != nil:
		verb = "overwrites %s's key"
	}
	return fmt.Sprintf(verb, c.Was.Owner.Client)
}
