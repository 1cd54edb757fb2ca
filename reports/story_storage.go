package reports

import (
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// tellStorage tells what the storage did, and what befell it.
func (s *teller) tellStorage() {
	made := map[*trace.Event]*history.Version{}
	for _, v := range s.Versions() {
		made[v.Made] = v
	}
	for _, ev := range s.Decisions() {
		switch {
		case ev.Kind == trace.KindServe:
			s.served(ev, made[ev])
		case ev.OK:
			s.say(ev, plain, "checks %s %s%s: nothing newer has been seen", possessive(ev.Client()), ev.Step, carried(ev.Token))
		}
	}
	for _, ev := range s.StorageLosses() {
		switch ev.Kind {
		case trace.KindRevert:
			s.affects(ev, "has lost what came after version %d of %s: it had been at version %d", ev.Version, visible(ev.Object), ev.Replaced)
		case trace.KindForgetToken:
			s.affects(ev, "no longer knows that it has seen token %s: it knows of %s", token(ev.Token), visible(ev.Text))
		}
	}
	if s.messages {
		for _, ev := range s.Objects() {
			s.say(ev, faint, "ends with %s at version %d", visible(ev.Object), ev.Version)
		}
	}
}

// served tells how a request was answered, and of a write that was applied which version
// it made.
func (s *teller) served(ev *trace.Event, made *history.Version) {
	e := entry{
		who: visible(ev.Process),
		of:  stepName(ev.Client(), ev.Section, ev.Step), part: serves,
	}
	who, object := possessive(ev.Client()), visible(ev.Object)
	switch {
	case !ev.OK:
		e.text = fmt.Sprintf("refuses %s %s of %s%s", who, ev.Step, object, because(ev.Text))
	case ev.Step == trace.Mark:
		e.text = fmt.Sprintf("marks %s for %s with token %s", object, visible(ev.Client()), token(ev.Token))
	case ev.Step == trace.Read:
		e.text = fmt.Sprintf("answers %s read of %s%s: version %d", who, object, carried(ev.Token), ev.Version)
	default:
		e.text = fmt.Sprintf("applies %s write of %s%s: version %d → %d",
			who, object, carried(ev.Token), ev.Replaced, ev.Version)
		if made == nil {
			break
		}
		if knew := made.By.Knew(ev.Object, made.Issued); knew != nil && knew.Number != ev.Replaced {
			e.mood = wrong
			e.text += fmt.Sprintf(", but it had read version %d", knew.Number)
		}
	}
	s.add(ev, e)
}
