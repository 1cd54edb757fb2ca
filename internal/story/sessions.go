package story

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

// addSessions describes the sessions of clients with clusters, the notifications that
// clients receive, and the leaders.
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
				unheard = ev.Text + ", which no longer leads,"
			}
			s.add(ev, Clause{Subject: Raw(ev.Peer), Its: true,
				Predicate: Raw(fmt.Sprintf("its session has expired: %s has not heard from it for too long", unheard))})
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
			return crowd(clients, 12) + " " + plural(clients) + " notified of a change"
		})
	}
	for _, ev := range s.Led() {
		s.say(ev, Plain, "becomes leader")
	}
	for _, ev := range s.Compacted() {
		s.say(ev, Plain, "compacts its history: everything before %s is deleted", ev.Text)
	}
}

// isOrAre returns the verb for a list of subjects.
func plural(subjects []string) string {
	if len(subjects) == 1 {
		return "is"
	}
	return "are"
}
