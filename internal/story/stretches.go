package story

import (
	"cmp"
	"fmt"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// The functions in this file describe what a diagram draws as a bar or a line from its beginning
// to its end. The text appears when a reader points at it. The parameter runEnd is the end of the
// run: a period that has not ended by then is described as if it ended there.

// DescribeSection describes a client in its critical section.
func DescribeSection(s *history.Section, runEnd time.Duration) Raw {
	text := fmt.Sprintf("%s in its critical section %s", s.Client, FromTo(s.From.At, min(s.To.At, runEnd)))
	if s.Token() != 0 {
		text += ", token " + Token(s.Token())
	}
	switch {
	case s.CutShort() != "":
		text += ": " + s.CutShort()
	case s.How == history.NotEnded:
		text += ": it never left"
	}
	return Raw(text)
}

// DescribeLease describes the lease of a section: when it ends, and how often it was
// extended. ends is history.Forever for a lease without an end.
func DescribeLease(s *history.Section, ends time.Duration, extended int) Raw {
	if ends == history.Forever {
		return Raw(fmt.Sprintf("%s lease from %s, without an end", Possessive(s.Client), Moment(s.From.At, 3)))
	}
	text := fmt.Sprintf("%s lease %s", Possessive(s.Client), FromTo(s.From.At, ends))
	if extended > 0 {
		text += fmt.Sprintf(", extended %s", Count(extended, "time"))
	}
	return Raw(text)
}

// DescribeOverrun describes the time for which a client is still in its section although
// its lease has ended.
func DescribeOverrun(s *history.Section, ended, runEnd time.Duration) Raw {
	return Raw(fmt.Sprintf("%s in its critical section after its lease has ended, %s", s.Client, FromTo(ended, min(s.To.At, runEnd))))
}

// DescribeOverlap describes the time for which two clients are in their sections.
func DescribeOverlap(o history.Overlap, runEnd time.Duration) Raw {
	return Raw(fmt.Sprintf("two clients in the critical section: %s and %s, %s", o.A.Client, o.B.Client, FromTo(o.From, min(o.To, runEnd))))
}

// DescribeAcquire describes a call of acquire.
func DescribeAcquire(c *history.Call, runEnd time.Duration) Raw {
	if last := cmp.Or(c.Crashed, c.Ended); last != nil {
		runEnd = last.At
	}
	text := fmt.Sprintf("%s asks for the lock %s", c.Client, FromTo(c.Began.At, runEnd))
	switch {
	case c.Crashed != nil:
		text += ", and crashes"
	case !c.OK():
		text += ", and does not get it"
	}
	return Raw(text)
}

// DescribeKey describes a key on a node, from when it was set until it really ended there.
func DescribeKey(k *history.Holding, runEnd time.Duration) Raw {
	existence := k.Existence()
	text := fmt.Sprintf("%s key %s on %s %s: %s", Possessive(Owner(k.Set.Owner)), k.Key, k.Node, FromTo(existence.From.At, min(existence.To.At, runEnd)), keyEnded(k))
	if n := len(k.Touches); n > 0 {
		text += fmt.Sprintf("; its expiry was changed %s", Count(n, "time"))
	}
	return Raw(text)
}

// keyEnded says how a key ended.
func keyEnded(k *history.Holding) string {
	existence := k.Existence()
	switch k.How {
	case history.Overwritten, history.Replaced:
		switch {
		case k.IsRestored():
			return "it came back with the expiry that it had before it was extended"
		case k.ReplacedByItself():
			return "its master changed its expiry"
		case existence != k.Blocking():
			return "lost in the crash, after which an older state came back"
		}
		return "overwritten by " + Owner(k.Ended.Owner)
	case history.Removed:
		switch {
		case k.Ended.By == nil:
			return "removed"
		case k.Ended.By.IsOperator():
			return "deleted by an operator"
		}
		return "removed by " + k.Ended.By.Client
	case history.Expired:
		return "it expired"
	case history.Forgotten:
		return "lost in the crash"
	case history.Dropped:
		return "lost with its connection"
	}
	if existence.To != history.Never {
		return "the node went down, and never came back"
	}
	return "it still exists at the end"
}

// DescribeState describes the time for which a process is in a state, such as paused.
func DescribeState(process, state string, from, to time.Duration) Raw {
	return Raw(fmt.Sprintf("%s %s %s", process, state, FromTo(from, to)))
}

// StateName names the state of a process during a spell in which it does not run, or
// answers with errors.
func StateName(s *history.Spell) string {
	switch s.State {
	case history.Paused:
		if s.How == string(trace.Suspend) {
			return "suspended"
		}
		return "paused"
	case history.Down:
		return "down"
	}
	return "answers with errors"
}

// DescribeMessage describes a message. text is the message's text, shortened to fit the
// diagram.
func DescribeMessage(m *history.Message, text string, runEnd time.Duration) Raw {
	if m.Arrived != nil {
		runEnd = m.Arrived.At
	}
	held := ""
	if m.Held != nil {
		held = ", held back"
	}
	when := fmt.Sprintf("%s to %s%s", Moment(m.Sent.At, 6), Moment(runEnd, 6), held)
	if m.Arrived == nil {
		when = fmt.Sprintf("sent %s, never arrives", Moment(m.Sent.At, 3))
	}
	return Raw(fmt.Sprintf("%s → %s: %s (%s)", m.From, m.To, text, when))
}

// DescribeDecision describes how the storage answered a request.
func DescribeDecision(ev *trace.Event) Raw {
	verb := "applied"
	switch {
	case !ev.OK:
		verb = "refused"
	case ev.Kind == trace.KindCheck:
		verb = "token accepted"
	case ev.Step == trace.Read:
		verb = "answered"
	}
	return Raw(fmt.Sprintf("%s: %s %s of %s%s %s%s", Moment(ev.At, 3), Possessive(ev.Client()), ev.Step, ev.Object, TokenSuffix(ev.Token), verb, reasonSuffix(ev.Text)))
}

// DescribeClockChange describes how a fault changed a process's clocks; "" if the event is
// about a change that no clock fault made.
func DescribeClockChange(h *history.History, ev *trace.Event) Raw {
	words := clockWords(h, ev)
	if words == "" {
		return ""
	}
	return Raw(fmt.Sprintf("%s: %s: %s", Moment(ev.At, 3), ev.Process, words))
}
