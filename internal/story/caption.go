package story

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// A caption describes one thing in the few words for which a picture has room. Its subject
// is the lane on which it is written, so the caption does not name it.

// CaptionGrant returns the caption of a grant. lockName is the name of its lock, if readers have to
// distinguish several locks; otherwise it is "". isNowhere says that acquire succeeded although no
// node had granted the lock.
func CaptionGrant(s *history.Section, lockName string, isNowhere bool) string {
	words := "granted"
	if lockName != "" {
		words = lockName + " granted"
	}
	switch token := s.Token(); {
	case isNowhere:
		return words + " by no node"
	case token != 0 && !s.GrantsEveryone:
		words += ", token " + Token(token)
	}
	return words
}

// CaptionSpell returns the caption of a spell on the lane of its process. A spell is a period in
// which a process is paused, is down or answers with errors.
func CaptionSpell(s *history.Spell) string {
	words := StateName(s)
	switch {
	case s.State == history.Down && s.RecoveryEvent() == nil:
		return "crashes"
	case s.State == history.Failing:
		return words
	case s.Ended == nil:
		return words
	}
	return words + " " + ProseSpan(s.Ended.At-s.Began.At)
}

// CaptionSpellOf returns the caption of a spell of one or several processes on a lane that they
// share with others. names are the processes.
func CaptionSpellOf(s *history.Spell, names string, isOne bool) string {
	does := [2]string{"crash", "crashes"}
	switch {
	case s.State == history.Paused:
		return names + " " + CaptionSpell(s)
	case s.State == history.Failing:
		does = [2]string{"answer with errors", "answers with errors"}
	case s.How == string(trace.Shutdown):
		does = [2]string{"are shut down", "is shut down"}
	}
	if isOne {
		return names + " " + does[1]
	}
	return names + " " + does[0]
}

// CaptionFault returns the caption of a fault that leaves its process running. laneOwner is the
// process to which the lane belongs. names returns a short name for several processes.
func CaptionFault(f trace.FaultInfo, laneOwner string, names func([]string) string) string {
	if f.Effect == "" && f.Kind == "" {
		return f.Text // the trace of an earlier version
	}
	f.Duration = 0
	f.Targets = slices.Clone(f.Targets)
	for i, group := range f.Targets {
		if len(group) > 0 {
			f.Targets[i] = []string{names(group)}
		}
	}
	switch f.Effect {
	case trace.SlowsLink:
		return "messages take " + f.Size + " longer"
	case trace.HoldsMessage:
		return captionHeld(f.Message.Message, laneOwner)
	case trace.CancelsCall:
		return "cancels its " + string(cmp.Or(f.Step, trace.Acquire))
	case trace.StallsRequest:
		return fmt.Sprintf("stalls in %s %s", Possessive(NameOf(f.Target())), f.Step)
	}
	subject, does := FaultClause(f)
	switch {
	case subject.Process == laneOwner && subject.Thing == "":
		return does
	case subject.Process == laneOwner:
		return "its " + subject.Thing + " " + does
	}
	return subject.String() + " " + does
}

// captionHeld returns the caption of a message that is held back, on the lane of laneOwner.
func captionHeld(m trace.Message, laneOwner string) string {
	owner := "its"
	if m.Client != laneOwner {
		owner = Possessive(m.Client)
	}
	switch {
	case m.Reply:
		return fmt.Sprintf("the reply to %s %s is held back", owner, cmp.Or(m.Step, "request"))
	case m.Step == "":
		return owner + " request is held back"
	}
	return fmt.Sprintf("%s %s request is held back", owner, m.Step)
}

// CaptionKeyLoss returns the caption of the loss of a key before the lease of its owner has
// ended. change is what happened to the key, and owner is the client.
func CaptionKeyLoss(change history.Change, owner string) string {
	key := Possessive(owner) + " key"
	switch change.How {
	case history.Forgotten:
		return key + " is forgotten"
	case history.Dropped:
		return key + " ends with its connection"
	case history.Expired:
		return key + " expires too early"
	}
	if change.Event.By.IsOperator() {
		return "an operator deletes " + key
	}
	if by := change.Event.By; by != nil && by.Client != owner {
		return by.Client + " " + describeMeddlingWith(change, owner)
	}
	return key + " is gone"
}

// CaptionQuorumLoss returns the caption of a grant that is lost although none of its keys has
// changed: too few of the nodes that keep it are running.
func CaptionQuorumLoss(owner string, quorum int) string {
	if quorum <= 1 {
		return "no node keeps " + Possessive(owner) + " key"
	}
	return "too few nodes keep " + Possessive(owner) + " key"
}

// CaptionWrite returns the caption of a write that the storage applied. isLate says that the
// write replaces a version that its client does not know. object is the name of the object if
// readers have to distinguish several objects; otherwise it is "".
func CaptionWrite(ev *trace.Event, isLate bool, object string) string {
	if isLate {
		return fmt.Sprintf("overwrites %sv%d", appendSpace(object), ev.Replaced)
	}
	return fmt.Sprintf("writes %sv%d", appendSpace(object), ev.Version)
}

// CaptionRead returns the caption of a read.
func CaptionRead(ev *trace.Event, object string) string {
	return fmt.Sprintf("reads %sv%d", appendSpace(object), ev.Version)
}

// CaptionRefusal returns the caption of a request that a storage with the given policy
// refused. seen is the highest token that the storage remembered, and version the version of
// the object.
func CaptionRefusal(ev *trace.Event, policy storage.Policy, seen uint64, version int) string {
	switch {
	case policy == storage.Optimistic:
		return fmt.Sprintf("refused: the object is at v%d", version)
	case policy == storage.Owner:
		return "refused: the key is gone"
	case ev.Token == 0:
		return "refused: no token"
	case policy == storage.CheckAndSet && seen == 0:
		return "refused: no mark"
	case policy == storage.CheckAndSet:
		return "refused: another mark"
	case policy == storage.Strict && seen == ev.Token:
		return fmt.Sprintf("refused: token %s again", Token(ev.Token))
	case seen > ev.Token:
		return fmt.Sprintf("refused: token %s < %s", Token(ev.Token), Token(seen))
	}
	return "refused"
}

// CaptionLoss returns the caption of a version or token that the storage loses.
func CaptionLoss(ev *trace.Event) string {
	if ev.Kind == trace.KindRevert {
		return fmt.Sprintf("loses v%d", ev.Replaced)
	}
	return "forgets token " + Token(ev.Token)
}

// CaptionFailures returns the caption of calls of acquire that failed.
func CaptionFailures(n int) string {
	if n == 1 {
		return "fails to acquire"
	}
	return fmt.Sprintf("fails to acquire, %s times", Thousands(n))
}

// appendSpace returns a word and a space; "" if the word is "".
func appendSpace(word string) string {
	if word == "" {
		return ""
	}
	return word + " "
}
