package story

import (
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/storage"
	"github.com/locksim/locksim/trace"
)

// Lesson is what can be learned from a run and its twin with or without fencing tokens, as
// far as the two show it: off and on are the verdicts on them, and fenced is the history of
// the one with.
func (p *Paragraph) Lesson(off, on *checks.Verdict, fenced *history.History) Raw {
	var says []string
	lease, twice := p.violated(checks.LeaseExclusion)
	section, outlived := p.violated(checks.SectionExclusion)
	own, robbed := p.violated(checks.ReleaseOwnership)
	switch assumed := lease.Fault.Broken(); {
	case twice && lease.Fault == checks.FaultLock:
		says = append(says, "Nothing that the lock relies on had failed: that it was granted twice is its own fault.")
	case twice && len(assumed) > 0:
		for _, one := range assumed {
			says = append(says, relies[one])
		}
	case outlived && section.Fault == checks.FaultLock:
		says = append(says, "Everything that the lock relies on had held: it took a lease for good that was over.")
	case outlived && section.Fault == checks.FaultInherent && !robbed:
		says = append(says, "The leases never overlapped: no lock whose grants end by time can prevent this.")
	}
	if robbed && p.change(own.At).Is == nil {
		says = append(says, "Only whoever set a key may remove it: its value has to be compared and the key removed in one step.")
	}
	if _, stuck := p.violated(checks.Progress); stuck && len(p.endless()) > 0 {
		says = append(says, "A key without an expiry outlives whoever set it.")
	}
	switch {
	case off.Verdict == checks.Unsafe && on.Verdict == checks.Safe:
		says = append(says, "A storage that checks fencing tokens keeps the data whole.")
	case on.Verdict == checks.Unsafe && on.Finding(checks.TokenOrder).Outcome == checks.Violated:
		says = append(says, "Fencing tokens did not help, as they did not grow from grant to grant.")
	case on.Verdict == checks.Unsafe && unseen(on, fenced):
		says = append(says, "Fencing did not help: the storage looks at the tokens of writes alone, and had not seen the newer one when the late write came.")
	case on.Verdict == checks.Unsafe:
		says = append(says, "The storage checked fencing tokens, and the data was harmed all the same.")
	case off.Verdict == checks.Safe && on.Verdict == checks.Safe && outlived:
		says = append(says, "The data was not harmed this time.")
	}
	return Raw(strings.Join(says, " "))
}

// unseen says whether a storage that checks the tokens of writes, and never forgot
// one, let a write of an older grant through because none of a newer had come before.
func unseen(v *checks.Verdict, h *history.History) bool {
	return h.Trace.Fencing == string(storage.Writes) && v.Finding(checks.GrantOrder).Outcome == checks.Violated &&
		len(h.ForgottenTokens()) == 0
}

// relies is what a lock relies on that was granted twice, by the assumption that
// broke.
var relies = map[trace.Assumption]string{
	trace.AssumeClock:      "The lock relies on clocks that count time at nearly the same speed, and one of them did not.",
	trace.AssumeLockMemory: "The lock relies on nodes that remember what they granted, and one of them forgot.",
	trace.AssumeProcess:    "The lock relies on a clock that does not stand still while its process is stopped.",
}
