package story

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

// tellSessions tells of the sessions that clients have with clusters, of what they are told
// without having asked, and who leads.
func (s *teller) tellSessions() {
	for _, ev := range s.OfSessions() {
		switch ev.Kind {
		case trace.KindOpen:
			ends := fmt.Sprintf("%s after its last sign of life", Span(ev.TTL))
			s.add(ev, Clause{Subject: Raw(ev.Peer), Mood: Detail, Its: true,
				Predicate: Raw(fmt.Sprintf("its session with %s begins; it ends %s", ev.Process, ends)),
				each:      Raw(fmt.Sprintf("begins a session with %s, which ends %s", ev.Process, ends))})
		case trace.KindExpireSession:
			unheard := ev.Process
			if ev.Text != "" {
				unheard = ev.Text + ", which leads no more,"
			}
			s.add(ev, Clause{Subject: Raw(ev.Peer), Its: true,
				Predicate: Raw(fmt.Sprintf("its session has expired: %s has heard nothing of it for too long", unheard))})
		case trace.KindCloseSession:
			if ev.By.IsOperator() {
				s.add(ev, Clause{Subject: Raw(ev.Peer), Mood: Fault, Its: true, Predicate: Raw("its session with " + ev.Process + " is ended by an operator")})
				continue
			}
			s.add(ev, Clause{Subject: Raw(ev.Peer), Mood: Detail, Predicate: Raw("ends its session with " + ev.Process)})
		}
	}
	for _, ev := range s.Notified() {
		s.tellOnce(ev, Clause{Mood: Detail, fold: "notify", items: []string{ev.Process}}, func(clients []string) string {
			return crowd(clients, 12) + " hear" + plural(clients) + " that something has changed"
		})
	}
	for _, ev := range s.Led() {
		s.say(ev, Plain, "becomes leader")
	}
	for _, ev := range s.Compacted() {
		s.say(ev, Plain, "compacts: what was before %s is forgotten", ev.Text)
	}
}

// plural is the ending of a verb.
func plural(subjects []string) string {
	if len(subjects) == 1 {
		return "s"
	}
	return ""
}
