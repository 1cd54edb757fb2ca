package story

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// addKeys describes those changes of keys that do not follow from the clients' steps: a key
// expires or is lost, a client changes another client's key, or a change takes effect after
// the call that asked for it has ended.
func (s *clauseBuilder) addKeys() {
	for _, c := range s.KeyChanges() {
		if s.belongsToLock(c.Key) {
			s.addLockKey(c)
		} else {
			s.addOtherKey(c)
		}
	}
}

// belongsToLock reports whether a key belongs to a lock. In a world without locks it is true for
// every key.
func (s *clauseBuilder) belongsToLock(key string) bool {
	return len(s.Trace.Locks) == 0 || s.IsLockKey(key)
}

// addOtherKey describes the loss of a key that belongs to no lock, such as a token counter. The
// clauses about steps describe what clients do to these keys.
func (s *clauseBuilder) addOtherKey(c history.Change) {
	switch ev := c.Event; c.How {
	case history.Forgotten:
		s.addPossessionText(ev, FaultMood, "key %s, which was %s, was lost in the crash", ev.Key, ev.Value)
	case history.Replaced:
		if s.RevivedByClock(ev) {
			s.addPossessionText(ev, FaultMood, "key %s exists again as %s: the clock was set back", ev.Key, ev.Value)
			return
		}
		s.addPossessionText(ev, FaultMood, "key %s came back from disk as %s", ev.Key, ev.Value)
	case history.Expired:
		s.addPossessionText(ev, PlainMood, "key %s expired", ev.Key)
	case history.Dropped:
		s.addPossessionText(ev, PlainMood, "key %s was dropped with the connection that held it", ev.Key)
	}
}

// addLockKey describes a change of a key that belongs to a lock.
func (s *clauseBuilder) addLockKey(c history.Change) {
	ev, owner := c.Event, Possessive(Owner(c.Event.Owner))
	switch {
	case c.Touch && !isOwnKey(c):
		s.addMeddling(c, Owner(ev.By), Owner(ev.Owner))
	case c.How == history.Overwritten:
		s.addKeySet(c)
	case c.How == history.Removed:
		s.addKeyRemoved(c)
	case c.How == history.Expired && ev.By != nil:
		s.addKey(c, PlainMood, ev.By.Client+" takes "+owner, ev.By.Client, func(nodes []string) string {
			return fmt.Sprintf("finds that %s key has expired %s", owner, s.describeNodes(nodes))
		})
	case c.How == history.Expired:
		s.addKeyOf(c, PlainMood, "key expired", "")
	case c.How == history.Forgotten:
		s.addKeyOf(c, FaultMood, "key was lost in the crash", "")
	case c.How == history.Dropped:
		s.addKeyOf(c, FaultMood, "lock ended with its connection", "")
	case c.How == history.Replaced && ev.By != nil:
		s.addKeyOf(c, PlainMood, "key exists again", "")
	case c.How == history.Replaced && s.RevivedByClock(ev):
		s.addKeyOf(c, FaultMood, "key exists again", expiryNote(ev)+": the clock was set back")
	case c.How == history.Replaced && (s.isCopy(ev.Process) || !s.isFromRestart(ev)):
		s.addKey(c, DetailMood, "copy "+owner, "", func(nodes []string) string {
			return fmt.Sprintf("%s key is copied to %s%s", owner, List(nodes), expiryNote(ev))
		})
	case c.How == history.Replaced:
		s.addKeyOf(c, FaultMood, "key came back from disk", expiryNote(ev))
	}
}

// addKeyOf adds a clause that begins with an owner's key: fate is what happened to the
// key, and after is the text after the list of nodes.
func (s *clauseBuilder) addKeyOf(c history.Change, m Mood, fate, after string) {
	what := Possessive(Owner(c.Event.Owner)) + " " + fate
	s.addKey(c, m, fmt.Sprint(m, what), "", func(nodes []string) string { return what + " " + s.describeNodes(nodes) + after })
}

// addKey adds a clause about a key on one node. It is merged with neighbouring clauses that have
// the same fold and are about the same key on other nodes. merge writes the predicate of the merged
// clause, given the nodes.
func (s *clauseBuilder) addKey(c history.Change, m Mood, fold, subject string, merge func([]string) string) {
	clause := Clause{Subject: Raw(subject), Mood: m, mergeKey: fold + "\x00" + c.Key, items: []string{c.Node}}
	if c.How == history.Expired && c.Event.By == nil && c.Event.Owner != nil {
		clause.deeds = s.deedsOf(deed{by: history.AcquisitionOf(c.Event.Owner), kind: "has its key expire"})
	}
	s.addMergeable(c.Event, clause, merge)
}

// addMeddling adds a clause about what a client does to the key of another client.
func (s *clauseBuilder) addMeddling(c history.Change, subject, owner string) {
	does := describeMeddlingWith(c, owner)
	s.addKey(c, WrongMood, subject+does, subject, func(nodes []string) string { return does + " " + s.describeNodes(nodes) })
}

// describeMeddlingWith describes what a command does to another client's key.
func describeMeddlingWith(c history.Change, owner string) string {
	verb := "removes"
	switch {
	case c.Touch:
		verb = "changes the expiry of"
	case c.After != nil:
		verb = "overwrites"
	}
	possessive := Possessive(owner)
	if c.Event.By != nil && c.Event.By.Client == owner {
		possessive = "its own earlier"
		if c.Before != nil && c.Event.By.Section < c.Before.Owner.Section { // the command was late
			possessive = "its own later"
		}
	}
	return fmt.Sprintf("%s %s key", verb, possessive)
}

// addOwnKey adds a clause about a client's own key, which the predicate calls "its key". merge
// writes the predicate, given the nodes.
func (s *clauseBuilder) addOwnKey(c history.Change, fold, subject string, merge func([]string) string) {
	clause := Clause{Subject: Raw(subject), IsAboutPossession: true, mergeKey: fold + "\x00" + c.Key, items: []string{c.Node}}
	s.addMergeable(c.Event, clause, merge)
}

// addKeySet describes that a key was set, but only in two cases. The key was overwritten by
// another acquisition. Or the attempt to acquire had ended before the key was set.
func (s *clauseBuilder) addKeySet(c history.Change) {
	ev := c.Event
	if ev.Owner == nil {
		return
	}
	acquire := s.acquires[c.After.Owner]
	switch {
	case ev.Prior != nil && history.AcquisitionOf(ev.Prior) != c.After.Owner:
		s.addMeddling(c, ev.Owner.Client, ev.Prior.Client)
	case endedBefore(acquire, ev):
		which, after := "its key", "its attempt had failed"
		if s.hasOtherKeyThere(c) {
			which = "another of its keys"
		}
		if acquire.OK() {
			after = "it had got " + s.theLock(acquire.Lock)
		}
		s.addOwnKey(c, "late "+ev.Owner.Client, ev.Owner.Client, func(nodes []string) string {
			return fmt.Sprintf("%s is set %s only now, after %s%s", which, s.describeNodes(nodes), after, expiryNote(ev))
		})
	}
}

// hasOtherKeyThere reports whether the acquisition that set a key had set another one on the same
// node before.
func (s *clauseBuilder) hasOtherKeyThere(c history.Change) bool {
	return slices.ContainsFunc(s.Holdings(), func(k *history.Holding) bool {
		return k.Owner == c.After.Owner && k.Place.Node == c.Node && k.Place != c.Place && k.Set.Seq < c.Event.Seq
	})
}

// isCopy reports whether a node holds only copies of other nodes' keys.
func (s *clauseBuilder) isCopy(node string) bool {
	return len(s.Trace.Locks) > 0 && !slices.Contains(s.Keepers(), node)
}

// isFromRestart reports whether an event is part of a node's restart after a crash. If a
// key appears on a node at any other time without a command, it is a copy from another
// node.
func (s *clauseBuilder) isFromRestart(ev *trace.Event) bool {
	return slices.ContainsFunc(s.Spells(), func(spell *history.Spell) bool {
		back := spell.RecoveryEvent()
		return spell.State == history.Down && back != nil && back.Process == ev.Process && back.At == ev.At
	})
}

// addKeyRemoved describes a removal only if it is not the normal effect of a release.
func (s *clauseBuilder) addKeyRemoved(c history.Change) {
	ev, owner := c.Event, Possessive(Owner(c.Event.Owner))
	switch {
	case ev.By == nil && s.isCopy(ev.Process):
		s.addKey(c, DetailMood, "copy of delete "+owner, "", func(nodes []string) string {
			return fmt.Sprintf("%s key is removed from %s by replication", owner, List(nodes))
		})
	case ev.By == nil:
		s.addOwnKey(c, "taken away "+Owner(ev.Owner), Owner(ev.Owner), func(nodes []string) string { return "its key is removed " + s.describeNodes(nodes) })
	case ev.By.IsOperator():
		s.addKeyOf(c, FaultMood, "key is deleted by an operator", "")
	case !isOwnKey(c):
		s.addMeddling(c, Owner(ev.By), Owner(ev.Owner))
	case ev.Owner != nil && endedBefore(s.releases[history.AcquisitionOf(ev.Owner)], ev):
		s.addOwnKey(c, "late release "+ev.Owner.Client, ev.Owner.Client, func(nodes []string) string {
			return fmt.Sprintf("its key is removed %s only now, after its release had ended", s.describeNodes(nodes))
		})
	}
}

// isOwnKey reports whether the acquisition that changed a key is also the one that had set
// it.
func isOwnKey(c history.Change) bool {
	return history.AcquisitionOf(c.Event.By) == history.AcquisitionOf(c.Event.Owner)
}

// keysSet returns the nodes on which an acquisition had set its key before an event.
func (s *clauseBuilder) keysSet(id history.Acquisition, before *trace.Event) []string {
	return s.keysOf(id, func(k *history.Holding) bool { return k.By != nil && k.Set.Seq < before.Seq })
}

// keysAt returns the nodes on which an acquisition's key existed when an event happened.
func (s *clauseBuilder) keysAt(id history.Acquisition, ev *trace.Event) []string {
	return s.keysOf(id, func(k *history.Holding) bool { return k.Existence().Contains(history.MomentOf(ev)) })
}

// hadKeyBefore reports whether a key of a call's acquisition had existed before the call began.
func (s *clauseBuilder) hadKeyBefore(c *history.Call) bool {
	return len(s.keysOf(c.Acquisition, func(k *history.Holding) bool { return k.Set.Seq < c.Began.Seq })) > 0
}

// keysReleased returns the nodes on which a call of release removed its own key.
func (s *clauseBuilder) keysReleased(c *history.Call) []string {
	return s.keysOf(c.Acquisition, func(k *history.Holding) bool {
		return k.How == history.Removed && history.AcquisitionOf(k.Ended.By) == c.Acquisition &&
			(c.Began == nil || c.Began.Seq < k.Ended.Seq) && k.Ended.Seq < c.Ended.Seq
	})
}

// keysOf returns the nodes of those keys of an acquisition that satisfy matches.
func (s *clauseBuilder) keysOf(id history.Acquisition, matches func(*history.Holding) bool) []string {
	var nodes []string
	for _, k := range s.keys[id] {
		if matches(k) {
			nodes = append(nodes, k.Node)
		}
	}
	return nodes
}

// expiryNote says when the key of an event expires.
func expiryNote(ev *trace.Event) string {
	if ev.TTL == 0 {
		return " (never expires)"
	}
	return " (expires at " + Moment(ev.Expires, 3) + ")"
}

// Owner names the client of an actor; "somebody" if the actor is unknown (nil).
func Owner(a *trace.Actor) string {
	if a == nil {
		return "somebody"
	}
	return a.Client
}
