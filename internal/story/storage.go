package story

import (
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// addStorage describes what the storage did, and what happened to it.
func (s *clauseBuilder) addStorage() {
	versionOf := map[*trace.Event]*history.Version{}
	for _, v := range s.Versions() {
		versionOf[v.Made] = v
	}
	for _, ev := range s.StorageDecisions() {
		switch {
		case ev.Kind == trace.KindServe:
			s.addServed(ev, versionOf[ev])
		case ev.OK:
			s.addText(ev, PlainMood, "checks %s %s%s: it has seen no newer token", Possessive(ev.Client()), ev.Step, TokenSuffix(ev.Token))
		}
	}
	for _, ev := range s.StorageLosses() {
		switch ev.Kind {
		case trace.KindRevert:
			s.addEffect(ev, "is back at version %d of %s: it has lost all later versions, up to version %d", ev.Version, ev.Object, ev.Replaced)
		case trace.KindForgetToken:
			s.addEffect(ev, "has forgotten that it has seen token %s: it remembers %s", Token(ev.Token), ev.Text)
		}
	}
	if s.messages {
		for _, ev := range s.FinalObjects() {
			s.addText(ev, DetailMood, "ends with %s at version %d", ev.Object, ev.Version)
		}
	}
}

// isAboutRecord reports whether a request reads or writes the object in which clients
// record the periods of the schedule that have been run.
func (s *clauseBuilder) isAboutRecord(ev *trace.Event) bool {
	return s.Trace.Schedule != nil && ev.Object == trace.PeriodRecord
}

// lastRun says which period was run last, as the record shows it.
func lastRun(period int) string {
	if period == 0 {
		return "no period has been run"
	}
	return fmt.Sprintf("period %d was run last", period)
}

// addServed describes how the storage answered a request. version is the version that an
// applied write made; nil if there is none.
func (s *clauseBuilder) addServed(ev *trace.Event, version *history.Version) {
	clause := Clause{
		Subject: Raw(ev.Process),
		OfStep:  Step{history.Acquisition{Client: ev.Client(), Section: ev.Section}, ev.Step}, Part: StorageAnswers,
	}
	who, object := Possessive(ev.Client()), ev.Object
	var does deed
	switch {
	case !ev.OK:
		does.kind = Raw(fmt.Sprintf("refuses a %s of %s", ev.Step, object))
		clause.Predicate = Raw(fmt.Sprintf("refuses %s %s of %s%s", who, ev.Step, object, reasonSuffix(ev.Text)))
	case ev.Step == trace.Mark:
		clause.Predicate = Raw(fmt.Sprintf("marks %s for %s with token %s", object, ev.Client(), Token(ev.Token)))
	case ev.Step == trace.Read && s.isAboutRecord(ev):
		clause.Predicate = Raw(fmt.Sprintf("answers %s read of %s%s: %s", who, object, TokenSuffix(ev.Token), lastRun(ev.Period)))
	case s.isAboutRecord(ev):
		clause.Predicate = Raw(fmt.Sprintf("records period %d in %s for %s%s", ev.Period, object, ev.Client(), TokenSuffix(ev.Token)))
	case ev.Step == trace.Read:
		does.kind = Raw("answers a read of " + object)
		clause.Predicate = Raw(fmt.Sprintf("answers %s read of %s%s: version %d", who, object, TokenSuffix(ev.Token), ev.Version))
	default:
		does.kind = Raw("applies a write of " + object)
		clause.Predicate = Raw(fmt.Sprintf("applies %s write of %s%s: version %d → %d",
			who, object, TokenSuffix(ev.Token), ev.Replaced, ev.Version))
		if version == nil {
			break
		}
		if knew := version.By.KnownVersion(ev.Object, version.Issued); knew != nil && knew.Number != ev.Replaced {
			clause.Mood = WrongMood
			does.kind += " although the client had read an older version,"
			clause.Predicate += Raw(fmt.Sprintf(", but the client had read version %d", knew.Number))
		}
	}
	clause.deeds = s.deedsOf(does)
	s.add(ev, clause)
}
