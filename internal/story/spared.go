package story

import (
	"fmt"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// maxExplained is how many overlaps of critical sections are explained; further explanations would
// add nothing new.
const maxExplained = 2

// explainUndamaged says why the data of a run is intact although sections overlapped.
func explainUndamaged(h *history.History) []string {
	first, more := checks.SafeOverlaps(h, maxExplained)
	var sentences []string
	for i, s := range first {
		opening := "It is also intact although"
		if i == 0 {
			opening = "The data is intact although"
		}
		sentences = append(sentences, fmt.Sprintf("%s %s and %s were in their critical sections at the same time: %s.", opening, s.First, s.Second, undamagedWords(s)))
	}
	switch {
	case more == 1:
		sentences = append(sentences, "One more overlap did no damage either.")
	case more > 1:
		sentences = append(sentences, fmt.Sprintf("%s more overlaps did no damage either.", Thousands(more)))
	}
	return sentences
}

// undamagedWords says why two overlapping sections did no damage.
func undamagedWords(s checks.SafeOverlap) string {
	who, other := s.Section, s.Other
	switch s.Reason {
	case checks.NeitherWrote:
		return "neither of them wrote"
	case checks.WroteNothing:
		return who + " wrote nothing" + reasonNotToWrite(s)
	case checks.WroteBefore:
		return fmt.Sprintf("%s wrote nothing after %s had entered its section at %s; its last write was applied at %s",
			who, other, Moment(s.Entered, 3), Moment(s.Last.At, 3))
	case checks.DoneBefore:
		return fmt.Sprintf("%s had finished with the storage before %s used it; its last %s was %s at %s, and %s first %s was %s at %s",
			who, other, s.Last.Step, servedWords[s.Last.Step], Moment(s.Last.At, 3), Possessive(s.Other), s.Next.Step, servedWords[s.Next.Step], Moment(s.Next.At, 3))
	case checks.OtherObjects:
		return "they used different objects"
	}
	return "their reads and writes have the same result as one section after the other"
}

// servedWords says how the storage served a request.
var servedWords = map[trace.Step]string{trace.Read: "answered", trace.Write: "applied"}

// reasonNotToWrite says why a client wrote nothing; "" if the cause is not known.
func reasonNotToWrite(s checks.SafeOverlap) string {
	at := Moment(s.CausedAt, 3)
	switch s.Cause {
	case checks.NotifiedOfLoss:
		return fmt.Sprintf(", because the lock had reported at %s that its lease was lost", at)
	case checks.CheckFailed:
		return fmt.Sprintf(", because its check at %s had found that its lease had ended", at)
	case checks.ExtendFailed:
		return fmt.Sprintf(", because it had failed at %s to extend its lease", at)
	case checks.ClientCrashed:
		return fmt.Sprintf(", because it crashed at %s", at)
	}
	return ""
}
