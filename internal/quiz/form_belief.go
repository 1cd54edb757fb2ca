package quiz

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/internal/snapshot"
	"github.com/locksim/locksim/internal/story"
)

// beliefForm asks what a client believes about the lock at a moment.
var beliefForm = Form{Name: "belief", Title: "what a client believes about the lock at a moment", ask: askBelief}

// beliefs lists what a client can believe, in the order in which a question offers it.
var beliefs = []snapshot.Belief{snapshot.HoldsTheLock, snapshot.LeaseEnded, snapshot.LostTheLock, snapshot.NoHold}

// beliefTexts says what a client believes, after the name of the client. Exactly one of the texts
// is true.
var beliefTexts = map[snapshot.Belief]string{
	snapshot.HoldsTheLock: "believes that it holds the lock",
	snapshot.LeaseEnded:   "could see on its own clock that its lease has ended, and has not been notified of a loss",
	snapshot.LostTheLock:  "has been notified that its lease is lost",
	snapshot.NoHold:       "is in no section: it was not granted the lock, or has released it",
}

// beliefInterest says how much readers learn from a question about k, what a client knows. isHolder
// says whether the servers of the lock keep a grant of the client.
func beliefInterest(k knowledge, isHolder bool) int {
	switch {
	case k.belief == snapshot.HoldsTheLock && !isHolder:
		return 3
	case k.belief == snapshot.LostTheLock:
		return 2
	case k.belief == snapshot.LeaseEnded:
		return 1
	}
	return 0
}

func askBelief(c *Case) *Question {
	h := c.Off.History
	clients := grantedClients(h)
	lock, ok := onlyLock(h)
	if !ok || len(clients) == 0 {
		return nil
	}
	camera := newCamera(h)
	var best calm
	var right knowledge
	client, most := "", 0
	for _, candidate := range findCalm(h) {
		holders, _ := camera.HoldersOf(lock.Name, candidate.moment)
		for _, name := range clients {
			k, known := knows(h, camera, name, candidate.moment)
			interest := beliefInterest(k, slices.Contains(holders, story.Visible(name)))
			if known && (interest > most || interest == most && interest > 0 && candidate.length > best.length) {
				best, right, client, most = candidate, k, name, interest
			}
		}
	}
	if client == "" {
		return nil
	}
	q := &Question{
		moment: best.moment.At,
		Text:   fmt.Sprintf("What does %s believe about the lock at %s? (It knows its own clock, and what the lock has told it. A paused client knows what it knew when its pause began. This is the run without fencing tokens.)", client, clockTime(best.moment.At)),
		Terms:  "A client believes that it holds the lock until its own clock passes the end of its lease, the lock notifies it of a loss, or it releases the lock. It could see the end of its lease on its clock even if its code does not look.",
	}
	for _, b := range beliefs {
		q.Choices = append(q.Choices, Choice{Text: "it " + beliefTexts[b], IsRight: b == right.belief})
	}
	holders, _ := camera.HoldersOf(lock.Name, best.moment)
	q.Reason = fmt.Sprintf("%s By its servers, %s holds the lock at that moment.", describeKnowledge(client, right), nameAll(holders))
	return q
}
