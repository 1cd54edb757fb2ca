package story

import (
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/storage"
)

// Lesson says what a reader can learn from a world, as far as its two runs show it: off and
// on are the verdicts on the runs without and with fencing tokens, and fenced is the
// history of the run with fencing tokens.
func (p *Paragraph) Lesson(off, on *checks.Verdict, fenced *history.History) Raw {
	var sentences []string
	lease, isGrantedTwice := p.violation(checks.LeaseExclusion)
	section, doSectionsOverlap := p.violation(checks.SectionExclusion)
	own, removedForeign := p.violation(checks.ReleaseOwnership)
	switch assumed := lease.Blame.Broken(); {
	case isGrantedTwice && lease.Blame == checks.BlameLock:
		sentences = append(sentences, "No assumption of the lock had failed: the lock itself is to blame for the double grant.")
	case isGrantedTwice && len(assumed) > 0:
		for _, assumption := range assumed {
			sentences = append(sentences, "The lock assumes that "+assumptionMeanings[assumption]+", which did not hold.")
		}
	case doSectionsOverlap && section.Blame == checks.BlameLock:
		sentences = append(sentences, "No assumption of the lock had failed: the lock treated a lease that had ended as valid.")
	case doSectionsOverlap && section.Blame == checks.BlameInherent && !removedForeign:
		sentences = append(sentences, "The leases never overlapped: no lock with leases that expire can prevent this.")
	}
	if removedForeign && p.keyChange(own.At).After == nil {
		sentences = append(sentences, "Only the client that set a key may remove it: a release has to compare the value and remove the key in one step.")
	}
	if _, isStuck := p.violation(checks.Progress); isStuck && len(p.endlessKeyOwners()) > 0 {
		sentences = append(sentences, "A key without an expiry outlives the client that set it.")
	}
	switch {
	case off.Verdict == checks.Unsafe && on.Verdict == checks.Safe:
		sentences = append(sentences, "A storage that checks fencing tokens keeps the data intact.")
	case FencingFailure(on, fenced) != "":
		sentences = append(sentences, string(FencingFailure(on, fenced)))
	case on.Verdict == checks.Unsafe:
		sentences = append(sentences, "The storage checked fencing tokens, but the data was still damaged.")
	case off.Verdict == checks.Safe && on.Verdict == checks.Safe && doSectionsOverlap:
		sentences = append(sentences, "The data was not damaged this time.")
	}
	return Raw(strings.Join(sentences, " "))
}

// FencingFailure says why the data was damaged although the storage checks fencing tokens. It
// knows two reasons: the tokens did not grow, or the storage accepted a write of an older grant
// because no write of a newer grant had arrived before. It gives the second reason only for a
// storage that checks only the tokens of writes and has forgotten none. If neither is the reason,
// it returns "".
func FencingFailure(on *checks.Verdict, fenced *history.History) Raw {
	if on.Verdict == checks.Unsafe && on.Finding(checks.TokenOrder).Outcome == checks.Violated {
		return "Fencing tokens did not help, because they did not grow from grant to grant."
	}
	if on.Verdict != checks.Unsafe || fenced.Trace.Fencing != string(storage.Writes) ||
		on.Finding(checks.GrantOrder).Outcome != checks.Violated || len(fenced.ForgottenTokens()) > 0 {
		return ""
	}
	return "Fencing did not help: the storage checks only the tokens of writes, and had not seen the newer token when the late write arrived."
}
