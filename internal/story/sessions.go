package story

import (
	"fmt"

	"github.com/locksim/locksim/trace"
)

// addSessions describes the sessions of clients with clusters, the notifications that
// clients receive, changes of the leader, and compactions.
func (s *clauseBuilder) addSessions() {
	for _, ev := range s.SessionEvents() {
		switch ev.Kind {
		case trace.KindOpen:
			timeout := "with a timeout of " + Span(ev.TTL)
			s.add(ev, Clause{Subject: Raw(ev.Peer), Mood: DetailMood, IsAboutPossession: true,
				Predicate:     Raw(fmt.Sprintf("its session with %s begins, %s", ev.Process, timeout)),
				eachPredicate: Raw(fmt.Sprintf("begins a session with %s, %s", ev.Process, timeout))})
		case trace.KindExpireSession:
			// The client does not know it yet, so the clause is about the cluster.
			receiver := "it"
			if ev.Text != "" {
				receiver = ev.Text + ", which no longer leads,"
			}
			s.add(ev, Clause{Subject: Raw(ev.Process), IsAboutPossession: true,
				Predicate: Raw(fmt.Sprintf("ends the session of %s: %s has received no sign of life from %[1]s for too long", ev.Peer, receiver))})
		case trace.KindCloseSession:
			if ev.By.IsOperator() {
				s.add(ev, Clause{Subject: Raw(ev.Peer), Mood: FaultMood, IsAboutPossession: true, Predicate: Raw("its session with " + ev.Process + " is ended by an operator")})
				continue
			}
			s.add(ev, Clause{Subject: Raw(ev.Peer), Mood: DetailMood, Predicate: Raw("ends its session with " + ev.Process)})
		}
	}
	for _, ev := range s.Notifications() {
		s.addMergeable(ev, Clause{Mood: DetailMood, mergeKey: "notify", items: []string{ev.Process}, deeds: s.deedsOf(deed{kind: "is notified of a change to a watched key"})}, func(clients []string) string {
			return abbreviateNames(clients, 12) + " " + isOrAre(clients) + " notified of a change to a watched key"
		})
	}
	for _, ev := range s.LeaderChanges() {
		s.addText(ev, PlainMood, "becomes leader")
	}
	for _, ev := range s.Compactions() {
		s.addText(ev, PlainMood, "compacts its history: superseded versions from before %s are deleted", ev.Text)
	}
}

// isOrAre returns the verb for a list of subjects.
func isOrAre(subjects []string) string {
	if len(subjects) == 1 {
		return "is"
	}
	return "are"
}
