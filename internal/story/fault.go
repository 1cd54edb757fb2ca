package story

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// FaultClause returns a clause in the present tense that describes a fault, as subject and
// predicate. A trace of an earlier version has no phrases for its faults; then the clause
// is "client-1 suffers a pause" or the like.
func FaultClause(f trace.FaultInfo) (on Subject, does string) {
	p := f.Phrases
	if p == (trace.Phrases{}) {
		on = Subject{Thing: "the network"}
		if process := f.Target(); process != "" {
			on = Subject{Process: process}
		}
		return on, "suffers a " + f.Kind
	}
	does = fill(p.Predicate, f, NameOf)
	switch thing, of := strings.CutPrefix(p.Subject, "{target}'s "); {
	case p.Subject == "{target}":
		return Subject{Process: f.Target()}, does
	case of:
		return Subject{Process: f.Target(), Thing: thing}, does
	case p.Subject == trace.StorageName:
		return Subject{Process: trace.StorageName}, does
	}
	return Subject{Thing: fill(p.Subject, f, NameOf)}, does
}

// FaultNoun returns a noun phrase for a fault, such as "a pause of client-1". name returns the
// words for a process.
func FaultNoun(f trace.FaultInfo, name func(string) string) string {
	return fill(f.Phrases.Noun, f, name)
}

// fill replaces the placeholders of a phrase, such as {target}, by the values of a fault.
func fill(phrase string, f trace.FaultInfo, name func(string) string) string {
	lasting, next := "", ""
	if f.Duration > 0 {
		lasts := trace.ShortDuration(f.Duration)
		lasting, next = " for "+lasts, ", for the next "+lasts
	}
	var others []string
	for _, other := range f.Others() {
		others = append(others, name(other))
	}
	return strings.NewReplacer(
		"{target}", name(f.Target()), "{others}", List(others), "{message}", heldMessage(f.Message, f.Trigger, name),
		"{step}", string(f.Step), "{size}", f.Size, "{lasting}", lasting, "{for-the-next}", next,
	).Replace(phrase)
}

// heldMessage names the message that a fault holds back. If the fault strikes at a point
// and not at the start, the messages are counted from that point, and the name says so.
func heldMessage(m trace.NthMessage, strikes trace.Trigger, name func(string) string) string {
	which, since := "", ""
	if m.Nth > 1 {
		which = Ordinal(m.Nth) + " "
		if !strikes.IsZero() {
			since = " from then on"
		}
	}
	step := ""
	if m.Step != "" {
		step = string(m.Step) + " "
	}
	switch {
	case m.Reply && m.Step != "":
		return fmt.Sprintf("%s's %sreply to %s's %s%s", name(m.Peer), which, name(m.Client), m.Step, since)
	case m.Reply:
		return fmt.Sprintf("%s's %sreply to %s%s", name(m.Peer), which, name(m.Client), since)
	}
	return fmt.Sprintf("%s's %s%srequest to %s%s", name(m.Client), which, step, name(m.Peer), since)
}
