package reports

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/trace"
)

// keyEvent tells what happened to a key where the steps of the clients do not:
// its end, and every change that reaches somebody else's key or comes late.
func (s *teller) keyEvent(ev *trace.Event) {
	if !s.locks(ev.Key) {
		s.otherKey(ev)
		return
	}
	owner := possessive(ownerOf(ev.Owner))
	s.standing(ev)
	switch ev.Kind {
	case trace.KindSet:
		s.setEvent(ev)
	case trace.KindTouch:
		if sameAcquisition(ev.By, ev.Owner) {
			return
		}
		s.keys(ev, wrong, "touch "+string(ownerOf(ev.By))+owner, ownerOf(ev.By), func(nodes []string) string {
			return fmt.Sprintf("changes the expiry of %s key %s", owner, s.on(nodes))
		})
	case trace.KindDelete:
		s.deleteEvent(ev)
	case trace.KindExpire:
		s.keys(ev, plain, "expire "+owner, "", func(nodes []string) string {
			return fmt.Sprintf("%s key expired %s", owner, s.on(nodes))
		})
	case trace.KindForget:
		s.keys(ev, fault, "forget "+owner, "", func(nodes []string) string {
			return fmt.Sprintf("%s key was lost in the crash %s", owner, s.on(nodes))
		})
	case trace.KindRestore:
		if s.isCopy(ev.Process) {
			s.keys(ev, faint, "copy "+owner, "", func(nodes []string) string {
				return fmt.Sprintf("%s key reaches %s%s", owner, list(nodes), until(ev))
			})
			return
		}
		s.keys(ev, fault, "restore "+owner, "", func(nodes []string) string {
			return fmt.Sprintf("%s key came back from disk %s%s", owner, s.on(nodes), until(ev))
		})
	}
}

// locks reports whether a key is one of a lock. In a world without locks every
// key is told as if it were.
func (s *teller) locks(key string) bool {
	return len(s.trace.Locks) == 0 || keyOfLock(s.trace, key)
}

// keyOfLock reports whether a lock keeps its grants in a key.
func keyOfLock(t *trace.Trace, key string) bool {
	return slices.ContainsFunc(t.Locks, func(l trace.LockInfo) bool {
		return slices.ContainsFunc(l.Slots, func(slot trace.SlotInfo) bool { return slot.Key == key })
	})
}

// otherKey tells of a key that is no lock, such as a counter of tokens. What the
// clients do to it they tell themselves.
func (s *teller) otherKey(ev *trace.Event) {
	switch ev.Kind {
	case trace.KindForget:
		s.say(ev, fault, "its key %s, which was %s, was lost in the crash", visible(ev.Key), visible(ev.Value))
	case trace.KindRestore:
		s.say(ev, fault, "its key %s came back from disk as %s", visible(ev.Key), visible(ev.Value))
	case trace.KindExpire:
		s.say(ev, plain, "its key %s expired", visible(ev.Key))
	}
}

// standing keeps account of the nodes on which each acquisition's key stands.
func (s *teller) standing(ev *trace.Event) {
	gone := func(owner *trace.Actor) {
		if owner != nil {
			a := s.acquisition(owner.Client, owner.Section)
			a.standing = slices.DeleteFunc(a.standing, func(node string) bool { return node == ev.Process })
		}
	}
	switch ev.Kind {
	case trace.KindSet, trace.KindRestore:
		gone(ev.Prior)
		gone(ev.Owner)
		if ev.Owner != nil {
			a := s.acquisition(ev.Owner.Client, ev.Owner.Section)
			a.standing = append(a.standing, ev.Process)
		}
	case trace.KindDelete, trace.KindExpire, trace.KindForget:
		gone(ev.Owner)
	}
}

// keys adds an entry that is told once for all nodes.
func (s *teller) keys(ev *trace.Event, m mood, fold, who string, merge func([]string) string) {
	e := entry{at: ev.At, who: visible(who), mood: m, fold: fold + "\x00" + ev.Key, items: []string{ev.Process}}
	s.add(s.folded(e, merge))
}

func (s *teller) setEvent(ev *trace.Event) {
	if ev.Owner == nil {
		return
	}
	a := s.acquisition(ev.Owner.Client, ev.Owner.Section)
	a.set = append(a.set, ev.Process)
	if ev.Prior != nil && !sameAcquisition(ev.Prior, ev.Owner) {
		prior := possessive(ev.Prior.Client)
		s.keys(ev, wrong, "overwrite "+prior, ev.Owner.Client, func(nodes []string) string {
			return fmt.Sprintf("overwrites %s key %s", prior, s.on(nodes))
		})
	} else if a.ended {
		s.keys(ev, plain, "late "+ev.Owner.Client, ev.Owner.Client, func(nodes []string) string {
			return fmt.Sprintf("its key is set %s only now, after its attempt had ended%s", s.on(nodes), until(ev))
		})
	}
}

// isCopy reports whether a node holds only copies of what others hold.
func (s *teller) isCopy(node string) bool {
	return len(s.trace.Locks) > 0 && !slices.Contains(s.nodes(), node)
}

func (s *teller) deleteEvent(ev *trace.Event) {
	if ev.By == nil && s.isCopy(ev.Process) {
		owner := possessive(ownerOf(ev.Owner))
		s.keys(ev, faint, "copy of delete "+owner, "", func(nodes []string) string {
			return fmt.Sprintf("%s key is removed from %s, too", owner, list(nodes))
		})
		return
	}
	if !sameAcquisition(ev.By, ev.Owner) {
		owner := possessive(ownerOf(ev.Owner))
		if ev.By != nil {
			s.acquisition(ev.By.Client, ev.By.Section).robbed = true
		}
		s.keys(ev, wrong, "delete "+owner, ownerOf(ev.By), func(nodes []string) string {
			return fmt.Sprintf("removes %s key %s", owner, s.on(nodes))
		})
		return
	}
	if ev.Owner == nil {
		return
	}
	a := s.acquisition(ev.Owner.Client, ev.Owner.Section)
	a.deleted = append(a.deleted, ev.Process)
	if a.released {
		s.keys(ev, plain, "late release "+ev.Owner.Client, ev.Owner.Client, func(nodes []string) string {
			return fmt.Sprintf("its key is removed %s only now, after its release had ended", s.on(nodes))
		})
	}
}

func until(ev *trace.Event) string {
	if ev.TTL == 0 {
		return ", for ever"
	}
	return ", until " + moment(ev.Expires, 3)
}

func sameAcquisition(a, b *trace.Actor) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Client == b.Client && a.Section == b.Section
}

func ownerOf(a *trace.Actor) string {
	if a == nil {
		return "somebody"
	}
	return a.Client
}
