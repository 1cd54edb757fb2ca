package story

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// nodesWithKey returns the nodes on which keys of an acquisition exist at the current
// moment of the narration. A node that is down counts: it cannot grant the lock to another
// client.
func (n *narrator) nodesWithKey(id history.Acquisition) []string {
	var nodes []string
	for _, k := range n.history.HoldingsOf(id) {
		if k.Blocking().Contains(n.now) && slices.Contains(n.nodes, k.Node) {
			nodes = append(nodes, k.Node)
		}
	}
	return nodes
}

// noteKeyChange keeps a change of a key until flushKeys makes a statement about it. It ignores a
// change that is not important, or that concerns no acquisition that contributed to the damage.
func (n *narrator) noteKeyChange(c history.Change) {
	if !slices.Contains(n.nodes, c.Node) || ownerOf(c) == (history.Acquisition{}) {
		return
	}
	if !n.parties[ownerOf(c)] && (c.Before == nil || !n.parties[c.Before.Owner]) {
		return
	}
	switch {
	case c.After == nil && c.Before.How == history.Expired:
		n.expiredKeys = append(n.expiredKeys, c)
	case isMeddling(c):
		n.foreignKeys = append(n.foreignKeys, c)
	case c.After != nil && !c.Touch && c.After.By != nil && n.acquireReturned[c.After.Owner]:
		if worst := n.verdict.Gravest(); !worst.IsData() && worst != checks.GrantOrder { // a late key is irrelevant to damage of the data and to the order of grants
			n.lateKeys = append(n.lateKeys, c)
		}
	}
}

// keyChange returns the change of a key that the event with the given number made.
func (p *Paragraph) keyChange(seq int) history.Change {
	all := p.history.KeyChanges()
	return all[slices.IndexFunc(all, func(c history.Change) bool { return c.Event.Seq == seq })]
}

// ownerOf returns the acquisition that owns a changed key, or that owned it until it was
// gone.
func ownerOf(c history.Change) history.Acquisition {
	switch {
	case c.After != nil:
		return c.After.Owner
	case c.Before != nil:
		return c.Before.Owner
	}
	return history.Acquisition{}
}

// isMeddling reports whether a client's command changed another client's key. It is false
// for a key that an operator deletes, because the statement about that fault says so.
func isMeddling(c history.Change) bool {
	return c.Before != nil && c.Event.By != nil && !c.Event.By.IsOperator() && c.Event.By.Client != c.Before.Owner.Client &&
		(c.Touch || c.Before.How == history.Overwritten || c.Before.How == history.Removed)
}

// expiredEarly reports whether a key expired before its time.
func expiredEarly(c history.Change) bool { return c.At < c.DueBefore-rounding }

// rounding is how much before its time a key may expire without counting as early: nodes count
// time in whole milliseconds.
const rounding = 5 * time.Millisecond

// flushKeys makes the postponed statements about keys. They were postponed so that one statement
// can describe the changes on all nodes.
func (n *narrator) flushKeys() {
	expired, foreign, late := n.expiredKeys, n.foreignKeys, n.lateKeys
	n.expiredKeys, n.foreignKeys, n.lateKeys = nil, nil, nil
	for len(expired) > 0 {
		first := expired[0]
		owner, early := first.Before.Owner, expiredEarly(first)
		var nodes []string
		nodes, expired = takeNodes(expired, func(c history.Change) bool { return c.Before.Owner == owner })
		keys, does := "key", "expires"
		if len(nodes) > 1 {
			keys, does = "keys", "expire"
		}
		if len(n.nodesWithKey(owner)) > 0 {
			keys += n.describeNodes(nodes)
		}
		if early && n.latest().fault == trace.SetsClock {
			does += " immediately"
		} else if early {
			does += " too early"
		}
		n.add(statement{subject: Subject{Process: owner.Client, Thing: keys}, predicate: does, joinsNext: !early, joinsPrevious: early})
	}
	for len(late) > 0 {
		owner := late[0].After.Owner
		var nodes []string
		nodes, late = takeNodes(late, func(c history.Change) bool { return c.After.Owner == owner })
		n.add(statement{subject: Subject{Process: owner.Client, Thing: "key"}, predicate: "is set only now" + n.describeNodes(nodes)})
	}
	for len(foreign) > 0 {
		first := foreign[0]
		var nodes []string
		nodes, foreign = takeNodes(foreign, func(c history.Change) bool {
			return c.Event.Kind == first.Event.Kind && *c.Event.By == *first.Event.By
		})
		if first.After == nil && !n.acquireReturned[first.Before.Owner] {
			n.add(statement{subject: Subject{Process: first.Before.Owner.Client, Thing: "key"}, predicate: "is set", joinsNext: true})
		}
		own := n.latest().subject == Subject{Process: first.Event.By.Client}
		n.add(statement{subject: n.command(first), predicate: describeMeddling(first) + n.describeNodes(nodes), joinsPrevious: own})
	}
}

// takeNodes returns the nodes of the changes for which alike returns true, and the other changes.
func takeNodes(all []history.Change, alike func(history.Change) bool) (nodes []string, rest []history.Change) {
	for _, c := range all {
		if alike(c) {
			nodes = append(nodes, c.Node)
		} else {
			rest = append(rest, c)
		}
	}
	return nodes, rest
}

// command returns the command that changed a key, as the subject of a statement.
func (p *Paragraph) command(c history.Change) Subject {
	by := Subject{Process: c.Event.By.Client}
	if c.Event.By.IsOperator() {
		return Subject{Thing: "an operator"}
	}
	if sent := p.event(c.Event.By.Sent); sent != nil {
		switch sent.Step {
		case trace.Release:
			by.Thing = "release"
		case trace.Extend:
			by.Thing = "extension"
		}
	}
	return by
}

// describeMeddling describes what a command does to another client's key.
func describeMeddling(c history.Change) string { return describeMeddlingWith(c, c.Before.Owner.Client) }
