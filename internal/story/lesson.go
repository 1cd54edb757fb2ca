package story

import (
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Lesson says what a world teaches, as far as its two runs show it: off and on are the
// verdicts on the runs without and with fencing tokens, and fenced is the history of the
// run with them.
func (p *Paragraph) Lesson(off, on *checks.Verdict, fenced *history.History) Raw {
	var says []string
	lease, twice := p.violated(checks.LeaseExclusion)
	section, outlived := p.violated(checks.SectionExclusion)
	own, robbed := p.violated(checks.ReleaseOwnership)
	switch assumed := lease.Fault.Broken(); {
	case twice && lease.Fault == checks.FaultLock:
		says = append(says, "No assumption of the lock had failed: the lock itself is to blame for the double grant.")
	case twice && len(assumed) > 0:
		for _, one := range assumed {
			says = append(says, relies[one])
		}
	case outlived && section.Fault == checks.FaultLock:
		says = append(says, "No assumption of the lock had failed: the lock treated a lease that had ended as valid.")
	case outlived && section.Fault == checks.FaultInherent && !robbed:
		says = append(says, "The leases never overlapped: no lock with leases that expire can prevent this.")
	}
	if robbed && p.change(own.At).Is == nil {
		says = append(says, "Only the client that set a key may remove it: a release has to compare the value and remove the key in one step.")
	}
	if _, stuck := p.violated(checks.Progress); stuck && len(p.endless()) > 0 {
		says = append(says, "A key without an expiry outlives the client that set it.")
	}
	switch {
	case off.Verdict == checks.Unsafe && on.Verdict == checks.Safe:
		says = append(says, "A storage that checks fencing tokens keeps the data intact.")
	case on.Verdict == checks.Unsafe && on.Finding(checks.TokenOrder).Outcome == checks.Violated:
		says = append(says, "Fencing tokens did not help, because they did not grow from grant to grant.")
	case on.Verdict == checks.Unsafe && unseen(on, fenced):
		says = append(says, "Fencing did not help: the storage checks only the tokens of writes, and had not seen the newer token when the late write arrived.")
	case on.Verdict == checks.Unsafe:
		says = append(says, "The storage checked fencing tokens, but the data was still damaged.")
	case off.Verdict == checks.Safe && on.Verdict == checks.Safe && outlived:
		says = append(says, "The data was not damaged this time.")
	}
	return Raw(strings.Join(says, " "))
}

// passedUnseen reports whether a storage that checks only the tokens of writes, and never
// forgot one, accepted a write of an older grant because no write of a newer grant had
// arrived before.
func unseen(v *checks.Verdict, h *history.History) bool {
	return h.Trace.Fencing == string(storage.Writes) && v.Finding(checks.GrantOrder).Outcome == checks.Violated &&
		len(h.ForgottenTokens()) == 0
}

// assumptionSentences explains why a lock was granted twice, by the assumption that broke.
var relies = map[trace.Assumption]string{
	trace.AssumeClock:      "The lock relies on clocks that count time at nearly the same speed, and one of them did not.",
	trace.AssumeLockMemory: "The lock relies on nodes that remember what they granted, and one of them forgot.",
	trace.AssumeProcess:    "The lock relies on a clock that does not stand still while its process is stopped.",
}
