package story

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// NameOf returns the name by which a sentence refers to a process.
func NameOf(process string) string {
	if process == trace.StorageName {
		return "the storage"
	}
	return process
}

// PossessiveOrIts returns the possessive of a process, such as "client-1's". It returns
// "its" if the process is the subject of the sentence.
func PossessiveOrIts(process, subject string) string {
	if process == subject {
		return "its"
	}
	return Possessive(NameOf(process))
}

// NameOrIt names a process, or returns "it" if the process is the subject of the sentence.
func NameOrIt(process, subject string) string {
	if process == subject {
		return "it"
	}
	return NameOf(process)
}

// A Subject is the subject of a sentence: a process, something that belongs to a process,
// such as its keys, or a thing without an owner.
type Subject struct{ Process, Thing string }

// String returns the subject as it appears in a sentence.
func (s Subject) String() string {
	switch {
	case s.Thing == "":
		return NameOf(s.Process)
	case s.Process == "":
		return s.Thing
	}
	return Possessive(NameOf(s.Process)) + " " + s.Thing
}

// Itself returns the subject's process if the process itself is the subject, and "" if it
// is something else.
func (s Subject) Itself() string {
	if s.Thing != "" {
		return ""
	}
	return s.Process
}

// When says when a fault begins, as a clause of time such as "just before it writes".
// subject is the process that the sentence is about. When returns "" for a fault at the
// start of the run.
func When(t trace.Trigger, subject string) string {
	if p := t.Before; !p.IsZero() {
		return fmt.Sprintf("just before %s %s%s", NameOrIt(p.Client, subject), beginnings[p.Step], nthTime(p.Nth))
	}
	var points []string
	for _, c := range t.When.Alternatives() {
		points = append(points, alternativeInWords(c, subject))
	}
	return strings.Join(points, ", or ")
}

// beginnings says how a client begins each step, for a sentence with "just before".
var beginnings = map[trace.Step]string{
	trace.Acquire: "asks for the lock", trace.Mint: "asks for a token", trace.Mark: "sends its mark", trace.Read: "reads",
	trace.Work: "starts to work", trace.Check: "checks its lease", trace.Write: "writes", trace.Extend: "extends its lease",
	trace.Release: "releases",
}

// participles says of each action that it has happened, for a sentence with "once".
var participles = map[trace.Verb]string{
	trace.Asked: "has asked for the lock", trace.Acquired: "has the lock", trace.NotAcquired: "has failed to get the lock",
	trace.Minted: "has its token", trace.Marked: "has sent its mark", trace.HasRead: "has read",
	trace.Worked: "has done its work", trace.Checked: "has checked its lease", trace.Wrote: "has written",
	trace.Extended: "has extended its lease", trace.Released: "has released", trace.Cancelled: "has cancelled its call",
	trace.WasRefused: "has been refused", trace.GaveUp: "has given up on its request", trace.Finished: "has finished",
	trace.Paused: "is paused", trace.Resumed: "has resumed", trace.Crashed: "has crashed", trace.Restarted: "has restarted",
	trace.Synced: "has written to its disk", trace.WasPromoted: "has been promoted",
	trace.BecameLeader: "leads", trace.Compacted: "has compacted", trace.WasNotified: "has been notified",
}

// alternativeInWords describes an alternative of a point as a clause of time: "once it has
// read", "5s after it has read". subject is the process that the sentence is about.
func alternativeInWords(c trace.Alternative, subject string) string {
	conjunction, words := happeningInWords(c.Happening, c.Nth, subject)
	if c.Delay > 0 {
		return trace.ShortDuration(c.Delay) + " after " + words
	}
	return conjunction + " " + words
}

// happeningInWords describes a happening, and returns the conjunction that goes before it.
// nth is which time it happens; 0 means any time.
func happeningInWords(what trace.Happening, nth int, subject string) (conjunction, words string) {
	again := nthTime(nth)
	switch h := what.(type) {
	case trace.Action:
		return "once", NameOrIt(h.Process, subject) + " " + participles[h.Verb] + again
	case trace.KeyExpired:
		return "as", fmt.Sprintf("%s key on %s expires%s", PossessiveOrIts(h.Client, subject), h.Node, again)
	case trace.KeysExpired:
		return "as", fmt.Sprintf("%s keys expire%s", PossessiveOrIts(h.Client, subject), again)
	case trace.SessionExpired:
		return "as", fmt.Sprintf("%s session expires%s", PossessiveOrIts(h.Client, subject), again)
	case trace.ClockJumped:
		return "as", fmt.Sprintf("%s clock jumps%s", PossessiveOrIts(h.Process, subject), again)
	case trace.HoldsNode:
		return "as", fmt.Sprintf("%s key is set on %s%s", PossessiveOrIts(h.Client, subject), NameOrIt(h.Node, subject), again)
	case trace.RequestServed:
		return "once", fmt.Sprintf("%s has %s %s %s%s", NameOrIt(trace.StorageName, subject), h.Answer, PossessiveOrIts(h.Client, subject), h.Step, again)
	case trace.Transit:
		switch {
		case h.Peer == "":
		case h.Arrived:
			return "as", messageArrives(h.Message, nth, subject)
		default:
			return "as", messageSent(h.Message, nth, subject)
		}
	case trace.StepEnded:
		return "after", fmt.Sprintf("%s %s%s", PossessiveOrIts(h.Client, subject), h.Step, again)
	}
	return "when", trace.At(what).String() + again
}

// messageSent says that a selected message is sent for the nth time.
func messageSent(m trace.Message, nth int, subject string) string {
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("%s answers %s %s", NameOrIt(m.Peer, subject), PossessiveOrIts(m.Client, subject), stepNth(m.Step, nth))
	case m.Reply:
		return fmt.Sprintf("%s answers %s%s", NameOrIt(m.Peer, subject), NameOf(m.Client), nthTime(nth))
	case m.Step != "":
		return fmt.Sprintf("%s sends its %s request to %s", NameOrIt(m.Client, subject), stepNth(m.Step, nth), NameOf(m.Peer))
	}
	return fmt.Sprintf("%s sends a request to %s%s", NameOrIt(m.Client, subject), NameOf(m.Peer), nthTime(nth))
}

// messageArrives says that a selected message is delivered for the nth time.
func messageArrives(m trace.Message, nth int, subject string) string {
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("%s answer to %s %s arrives", PossessiveOrIts(m.Peer, subject), PossessiveOrIts(m.Client, subject), stepNth(m.Step, nth))
	case m.Reply:
		return fmt.Sprintf("%s answer to %s arrives%s", PossessiveOrIts(m.Peer, subject), NameOf(m.Client), nthTime(nth))
	case m.Step != "":
		return fmt.Sprintf("%s %s request reaches %s", PossessiveOrIts(m.Client, subject), stepNth(m.Step, nth), NameOrIt(m.Peer, subject))
	}
	return fmt.Sprintf("a request of %s reaches %s%s", NameOrIt(m.Client, subject), NameOrIt(m.Peer, subject), nthTime(nth))
}

// stepNth names a step: "write", or "second write".
func stepNth(step trace.Step, nth int) string {
	if nth > 1 {
		return Ordinal(nth) + " " + string(step)
	}
	return string(step)
}

// nthTime returns " for the second time" or the like; "" for 0 and 1.
func nthTime(nth int) string {
	if nth > 1 {
		return " for the " + Ordinal(nth) + " time"
	}
	return ""
}
