package story

import (
	"fmt"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// mostSpared is how many overlaps are explained; who reads of more does not learn more.
const mostSpared = 2

// spared says why the data of a run is intact although sections overlapped.
func spared(h *history.History) []string {
	first, more := checks.Spared(h, mostSpared)
	var said []string
	for i, s := range first {
		begins := "So it is although"
		if i == 0 {
			begins = "The data is intact although"
		}
		said = append(said, fmt.Sprintf("%s %s and %s were in their sections at once: %s.", begins, s.First, s.Second, sparedWords(s)))
	}
	switch {
	case more == 1:
		said = append(said, "One more overlap did no harm either.")
	case more > 1:
		said = append(said, fmt.Sprintf("%s more overlaps did no harm either.", Thousands(more)))
	}
	return said
}

// sparedWords say how two sections kept out of each other's way.
func sparedWords(s checks.Sparing) string {
	who, other := s.Who, s.Other
	switch s.How {
	case checks.NeitherWrote:
		return "neither of them wrote"
	case checks.WroteNothing:
		return who + " wrote nothing" + restraintWords(s)
	case checks.WroteBefore:
		return fmt.Sprintf("%s wrote nothing after %s had entered its own at %s; its last write was applied at %s",
			who, other, Moment(s.Entered, 3), Moment(s.Last.At, 3))
	case checks.DoneBefore:
		return fmt.Sprintf("%s was done with the storage before %s came to it; its last %s was %s at %s, and %s first %s was %s at %s",
			who, other, s.Last.Step, servedWords[s.Last.Step], Moment(s.Last.At, 3), Possessive(s.Other), s.Next.Step, servedWords[s.Next.Step], Moment(s.Next.At, 3))
	case checks.OtherObjects:
		return "they used no object in common"
	}
	return "what they read and wrote comes to the same as one after the other"
}

var servedWords = map[trace.Step]string{trace.Read: "answered", trace.Write: "applied"}

// restraintWords say why somebody wrote nothing.
func restraintWords(s checks.Sparing) string {
	at := Moment(s.CausedAt, 3)
	switch s.Cause {
	case checks.ToldOfLoss:
		return fmt.Sprintf(", for it had learnt from the lock at %s that its lease was lost", at)
	case checks.CheckFailed:
		return fmt.Sprintf(", for it had found at its check at %s that its lease was over", at)
	case checks.ExtendFailed:
		return fmt.Sprintf(", for it had learnt at %s that it could not extend its lease", at)
	case checks.ClientCrashed:
		return fmt.Sprintf(", for it crashed at %s", at)
	}
	return ""
}
