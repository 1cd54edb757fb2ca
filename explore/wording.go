package explore

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/story"
	"github.com/locksim/locksim/trace"
)

// named is a process as a sentence names it.
func named(process string) string {
	if process == trace.StorageName {
		return "the storage"
	}
	return process
}

// whose is the owner of something: client-1's, or its if that is whom the sentence is
// about.
func whose(process, subject string) string {
	if process == subject {
		return "its"
	}
	return named(process) + "'s"
}

// who is whoever does something, or "it" if the sentence is about it.
func who(process, subject string) string {
	if process == subject {
		return "it"
	}
	return named(process)
}

// A subject of a sentence is a process, something of it, such as its keys, or
// something of nobody's.
type subject struct{ process, thing string }

func (s subject) String() string {
	switch {
	case s.thing == "":
		return named(s.process)
	case s.process == "":
		return s.thing
	}
	return named(s.process) + "'s " + s.thing
}

// itself is the process that is the subject, or "".
func (s subject) itself() string {
	if s.thing != "" {
		return ""
	}
	return s.process
}

// happens is a fault as a clause: who, and what becomes of it.
func (f Fault) happens() (on subject, predicate string) {
	lasting := ""
	if f.For > 0 {
		lasting = " for " + trace.ShortDuration(f.For)
	}
	switch a := f.Action.(type) {
	case *sim.Pause:
		if a.Mode == trace.Suspend {
			return subject{process: a.Process}, "is suspended with its machine" + lasting
		}
		return subject{process: a.Process}, "pauses" + lasting
	case *sim.CrashFault:
		switch a.How {
		case trace.PowerLoss:
			return subject{process: a.Process}, "loses its power"
		case trace.Shutdown:
			return subject{process: a.Process}, "is shut down"
		case trace.FailOver:
			return subject{process: a.Process}, "loses its machine"
		}
		return subject{process: a.Process}, "crashes"
	case *sim.Jump:
		way := "ahead"
		if a.By < 0 {
			way = "back"
		}
		return subject{a.Process, "clock"}, fmt.Sprintf("jumps %s by %s", way, trace.ShortDuration(a.By.Abs()))
	case *sim.Partition:
		return subject{process: a.Process}, "cannot reach " + story.List(everyOne(a.From)) + lasting
	case *sim.Reset:
		return subject{thing: fmt.Sprintf("the connection between %s and %s", named(a.Process), named(a.From))}, "is cut"
	case *sim.Delay:
		if f.For > 0 {
			lasting = ", for the next " + trace.ShortDuration(f.For)
		}
		between := fmt.Sprintf("each message between %s and %s", named(a.Process), named(a.To))
		return subject{thing: between}, fmt.Sprintf("takes %s longer%s", trace.ShortDuration(a.By), lasting)
	case *sim.Hold:
		return subject{thing: "the network"}, "holds back " + theMessage(a.Message, f.Strikes) + lasting
	case *sim.Stall:
		return subject{process: trace.StorageName}, fmt.Sprintf("stalls in the middle of %s's %s%s", a.Client, cmp.Or(a.Step, trace.Write), lasting)
	case *sim.Fail:
		return subject{process: a.Node}, "answers every command with an error" + lasting
	}
	return subject{process: f.target()}, fmt.Sprintf("suffers a %s%s", f.kind(), lasting)
}

// everyOne are processes as a sentence names them.
func everyOne(processes []string) []string {
	all := make([]string, len(processes))
	for i, p := range processes {
		all[i] = named(p)
	}
	return all
}

// theMessage is a message that is held back. Where that waits for a moment the count
// begins there.
func theMessage(m trace.NthMessage, strikes sim.Trigger) string {
	which, since := "", ""
	if m.Nth > 1 {
		which = story.Ordinal(m.Nth) + " "
		if !atStart(strikes) {
			since = " from then on"
		}
	}
	step := ""
	if m.Step != "" {
		step = string(m.Step) + " "
	}
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("%s's %sreply to %s's %s%s", named(m.Peer), which, named(m.Client), m.Step, since)
	case m.Reply:
		return fmt.Sprintf("%s's %sreply to %s%s", named(m.Peer), which, named(m.Client), since)
	}
	return fmt.Sprintf("%s's %s%srequest to %s%s", named(m.Client), which, step, named(m.Peer), since)
}

// strikes says when a fault begins, in a sentence about some process: "just before
// its write". A fault of the start of the run strikes "".
func (f Fault) strikes(subject string) string {
	if p := f.Strikes.Before; !p.IsZero() {
		return fmt.Sprintf("just before %s %s%s", who(p.Client, subject), beginnings[p.Step], times(p.Nth))
	}
	var points []string
	for _, c := range f.Strikes.When.Clauses() {
		points = append(points, clauseInWords(c, subject))
	}
	return strings.Join(points, ", or ")
}

// beginnings are what a client does that begins a step.
var beginnings = map[trace.Step]string{
	trace.Acquire: "asks for the lock", trace.Mint: "asks for a token", trace.Mark: "sends its mark", trace.Read: "reads",
	trace.Work: "starts to work", trace.Check: "checks its lease", trace.Write: "writes", trace.Extend: "extends its lease",
	trace.Release: "releases",
}

// participles are what a process that did something has done by then.
var participles = map[trace.Verb]string{
	trace.Acquired: "has the lock", trace.NotAcquired: "has failed to get the lock",
	trace.Minted: "has its token", trace.Marked: "has sent its mark", trace.HasRead: "has read",
	trace.Worked: "has done its work", trace.Checked: "has checked its lease", trace.Wrote: "has written",
	trace.Extended: "has extended its lease", trace.Released: "has released", trace.Cancelled: "has cancelled its call",
	trace.WasRefused: "has been refused", trace.GaveUp: "has given up on its request", trace.Finished: "has finished",
	trace.Paused: "is paused", trace.Resumed: "has resumed", trace.Crashed: "has crashed", trace.Restarted: "has restarted",
	trace.Synced: "has written to its disk", trace.WasPromoted: "has been promoted",
}

// clauseInWords is a clause of a point of the story, in a sentence about some process:
// "once it has read", "5s after it has read".
func clauseInWords(c trace.Clause, subject string) string {
	conjunction, words := happeningInWords(c.Happening, c.Nth, subject)
	if c.Delay > 0 {
		return trace.ShortDuration(c.Delay) + " after " + words
	}
	return conjunction + " " + words
}

// happeningInWords is what happens for the nth time, 0 being any, and the conjunction
// that goes before it.
func happeningInWords(what trace.Happening, nth int, subject string) (conjunction, words string) {
	again := times(nth)
	switch h := what.(type) {
	case trace.Did:
		return "once", who(h.Process, subject) + " " + participles[h.Verb] + again
	case trace.KeyExpired:
		return "as", fmt.Sprintf("%s key on %s expires%s", whose(h.Client, subject), h.Node, again)
	case trace.KeysExpired:
		return "as", fmt.Sprintf("%s keys expire%s", whose(h.Client, subject), again)
	case trace.ClockJumped:
		return "as", fmt.Sprintf("%s clock jumps%s", whose(h.Process, subject), again)
	case trace.Holds:
		return "as", fmt.Sprintf("%s key is set on %s%s", whose(h.Client, subject), who(h.Node, subject), again)
	case trace.Served:
		return "once", fmt.Sprintf("%s has %s %s %s%s", who(trace.StorageName, subject), h.Answer, whose(h.Client, subject), h.Step, again)
	case trace.Transit:
		switch {
		case h.Peer == "":
		case h.Arrived:
			return "as", messageArrives(h.Message, nth, subject)
		default:
			return "as", messageSent(h.Message, nth, subject)
		}
	case trace.StepOver:
		return "after", fmt.Sprintf("%s %s%s", whose(h.Client, subject), h.Step, again)
	}
	return "when", what.String() + again
}

// messageSent says that the nth such message sets out.
func messageSent(m trace.Message, nth int, subject string) string {
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("%s answers %s %s", who(m.Peer, subject), whose(m.Client, subject), stepNth(m.Step, nth))
	case m.Reply:
		return fmt.Sprintf("%s answers %s%s", who(m.Peer, subject), named(m.Client), times(nth))
	case m.Step != "":
		return fmt.Sprintf("%s sends its %s request to %s", who(m.Client, subject), stepNth(m.Step, nth), named(m.Peer))
	}
	return fmt.Sprintf("%s sends a request to %s%s", who(m.Client, subject), named(m.Peer), times(nth))
}

// messageArrives says that the nth such message is delivered.
func messageArrives(m trace.Message, nth int, subject string) string {
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("%s answer to %s %s arrives", whose(m.Peer, subject), whose(m.Client, subject), stepNth(m.Step, nth))
	case m.Reply:
		return fmt.Sprintf("%s answer to %s arrives%s", whose(m.Peer, subject), named(m.Client), times(nth))
	case m.Step != "":
		return fmt.Sprintf("%s %s request reaches %s", whose(m.Client, subject), stepNth(m.Step, nth), who(m.Peer, subject))
	}
	return fmt.Sprintf("a request of %s reaches %s%s", who(m.Client, subject), who(m.Peer, subject), times(nth))
}

func stepNth(step trace.Step, nth int) string {
	if nth > 1 {
		return story.Ordinal(nth) + " " + string(step)
	}
	return string(step)
}

func times(nth int) string {
	if nth > 1 {
		return " for the " + story.Ordinal(nth) + " time"
	}
	return ""
}

// roughly is a length of time in the story: to a tenth of a second, or to the
// millisecond if it is shorter than that.
func roughly(d time.Duration) string {
	if d >= time.Second {
		return trace.ShortDuration(d.Round(100 * time.Millisecond))
	}
	return trace.ShortDuration(d.Round(time.Millisecond))
}
