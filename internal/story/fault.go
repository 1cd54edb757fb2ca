package story

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// FaultClause is a fault as a clause in the present tense: who, and what becomes of it. A fault
// that brought no phrases, as in a trace of an earlier version, suffers its kind.
func FaultClause(f trace.FaultInfo) (on Subject, does string) {
	p := f.Phrases
	if p == (trace.Phrases{}) {
		on = Subject{Thing: "the network"}
		if process := f.Target(); process != "" {
			on = Subject{Process: process}
		}
		return on, "suffers a " + f.Kind
	}
	does = fill(p.Does, f, Named)
	switch thing, of := strings.CutPrefix(p.Subject, "{target}'s "); {
	case p.Subject == "{target}":
		return Subject{Process: f.Target()}, does
	case of:
		return Subject{Process: f.Target(), Thing: thing}, does
	case p.Subject == trace.StorageName:
		return Subject{Process: trace.StorageName}, does
	}
	return Subject{Thing: fill(p.Subject, f, Named)}, does
}

// FaultNoun is a fault as a thing, such as "a pause of client-1", with its processes named in
// some way.
func FaultNoun(f trace.FaultInfo, name func(string) string) string {
	return fill(f.Phrases.Noun, f, name)
}

// fill puts into a phrase what the fault has for the names in braces.
func fill(phrase string, f trace.FaultInfo, name func(string) string) string {
	lasting, next := "", ""
	if f.Lasts > 0 {
		lasts := trace.ShortDuration(f.Lasts)
		lasting, next = " for "+lasts, ", for the next "+lasts
	}
	var others []string
	for _, other := range f.Others() {
		others = append(others, name(other))
	}
	return strings.NewReplacer(
		"{target}", name(f.Target()), "{others}", List(others), "{message}", theMessage(f.Message, f.Strikes, name),
		"{step}", string(f.Step), "{size}", f.Size, "{lasting}", lasting, "{for-the-next}", next,
	).Replace(phrase)
}

// theMessage is a message that is held back. Where that waits for a moment the count
// begins there.
func theMessage(m trace.NthMessage, strikes trace.Trigger, name func(string) string) string {
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
