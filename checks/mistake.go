package checks

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A Mistake is a kind of error in the code of a lock. All violations with the same mistake
// are repaired in the same way; package internal/story has the words. A violation for which
// no mistake is recognised has the name of its property as its mistake.
type Mistake string

// The mistakes that are recognised. The call of the lock in which each one is made is the
// [Cause.Step].
const (
	// RemovesUnchecked: a Redis command that compares nothing, such as DEL, removes a key.
	RemovesUnchecked Mistake = "removes-unchecked"
	// ExtendsUnchecked: such a command, for example PEXPIRE, changes a key's expiry.
	ExtendsUnchecked Mistake = "extends-unchecked"
	// Overwrites: such a command, for example SET without NX, replaces a key.
	Overwrites Mistake = "overwrites"
	// ChecksThenActs: the same call reads the key first, and then sends such a command.
	ChecksThenActs Mistake = "checks-then-acts"
	// EqualValues: two acquisitions set the key to the same value, so that no comparison can
	// distinguish them.
	EqualValues Mistake = "equal-values"
	// RemovesOwnKey: the holder's own command removes its key while its lease is valid.
	RemovesOwnKey Mistake = "removes-own-key"
	// KeyTooShort: the key expires after a tenth of the lease or less, as if a number of
	// milliseconds had been taken for seconds.
	KeyTooShort Mistake = "key-too-short"
	// LeaseOutlivesKey: the lease ends after the keys that it is based on.
	LeaseOutlivesKey Mistake = "lease-outlives-key"
	// KeyNeverExpires: a key without an expiry keeps every other client waiting.
	KeyNeverExpires Mistake = "key-never-expires"
	// GrantWithoutKey: the lock is granted although no server has a key of the grant.
	GrantWithoutKey Mistake = "grant-without-key"
	// GrantsEndedLease: acquire returns a lease that has already ended.
	GrantsEndedLease Mistake = "grants-ended-lease"
	// ExtendsTooLate: extend reports success after the lease had ended, new end included.
	ExtendsTooLate Mistake = "extends-too-late"
	// NotifiesTooLate: the holder is notified of the loss too late or never.
	NotifiesTooLate Mistake = "notifies-too-late"
	// LeavesKeyOfFailure: a failed acquire leaves its key behind.
	LeavesKeyOfFailure Mistake = "leaves-key-of-failure"
	// LeavesKeyOfRelease: a successful release leaves its key behind.
	LeavesKeyOfRelease Mistake = "leaves-key-of-release"
)

// A Cause is a mistake that a lock made in one run, and the violations that follow from it.
type Cause struct {
	Mistake Mistake
	// Step is the call of the lock whose command did the damage; "" if no single call did,
	// or if the command was sent between two calls.
	Step trace.Step
	// Findings are the violations, in the order in which they happened. There is at least
	// one.
	Findings []Finding
}

// Causes returns why the lock violated properties in a run, as far as the violations are
// its own fault; nil if none is. Findings that the judgement leaves out, such as those that
// a doubt about the run excuses, are not to be in the argument.
//
// A later violation belongs to the cause of an earlier one if it can follow from it: a lock
// that removes another client's key is then granted twice, and two clients are in their
// sections.
func Causes(h *history.History, blamed []Finding) []Cause {
	q := &inquiry{h}
	inOrder := slices.Clone(blamed)
	slices.SortStableFunc(inOrder, func(a, b Finding) int {
		if a.At != b.At {
			return a.At - b.At
		}
		return a.Property.rank() - b.Property.rank()
	})
	var causes []Cause
	for _, f := range inOrder {
		if i := slices.IndexFunc(causes, func(c Cause) bool { return c.explains(f) }); i >= 0 {
			causes[i].Findings = append(causes[i].Findings, f)
			continue
		}
		mistake, step := q.mistakeOf(f)
		same := func(c Cause) bool { return c.Mistake == mistake && c.Step == step }
		if i := slices.IndexFunc(causes, same); i >= 0 {
			causes[i].Findings = append(causes[i].Findings, f)
			continue
		}
		causes = append(causes, Cause{mistake, step, []Finding{f}})
	}
	return causes
}

// families are groups of properties. Within a group a violation can follow from an earlier
// violation of the same or of an earlier property.
var families = [][]Property{
	{
		ReleaseOwnership, LeaseExclusion, SectionExclusion, ReleaseAnswer, TokenOrder, GrantOrder, WriteOrder, NoLostUpdate,
		SerialSections, OncePerPeriod,
	},
	{KeyLeftBehind, OwnKeyInTheWay, Progress},
}

// rank returns the property's place in its family, and a great number if it has none.
func (p Property) rank() int {
	for _, family := range families {
		if i := slices.Index(family, p); i >= 0 {
			return i
		}
	}
	return len(properties)
}

// explains reports whether a violation can follow from the first violation of a cause,
// which happened no later.
func (c Cause) explains(f Finding) bool {
	first := c.Findings[0].Property
	return slices.ContainsFunc(families, func(family []Property) bool {
		return slices.Contains(family, first) && slices.Contains(family, f.Property) && first.rank() <= f.Property.rank()
	})
}

// mistakeOf returns the mistake that a violation shows, and the call in which it was made.
func (h *inquiry) mistakeOf(f Finding) (Mistake, trace.Step) {
	switch f.Property {
	case ReleaseOwnership:
		return h.mistakeWithForeignKey(h.Event(f.At))
	case LeaseExclusion, SectionExclusion:
		return h.mistakeWithExclusion(f)
	case KeyLeftBehind:
		switch {
		case h.comparesEqualValues():
			return EqualValues, ""
		case f.Reason.Code == Code(releasedWithoutAsking):
			return LeavesKeyOfRelease, trace.Release
		}
		return LeavesKeyOfFailure, trace.Acquire
	case Progress:
		if h.hasEndlessKey() {
			return KeyNeverExpires, ""
		}
	}
	return Mistake(f.Property), ""
}

// mistakeWithForeignKey returns the mistake of a command that touched a key of another
// acquisition. ev is the change of the key.
func (h *inquiry) mistakeWithForeignKey(ev *trace.Event) (Mistake, trace.Step) {
	sent := h.Event(ev.By.Sent)
	if sent == nil {
		return Mistake(ReleaseOwnership), ""
	}
	switch {
	case !comparesNothing(sent.Text):
		if h.comparesEqualValues() {
			return EqualValues, sent.Step
		}
		return Mistake(ReleaseOwnership), sent.Step
	case h.wasReadBefore(ev.Key, sent):
		return ChecksThenActs, sent.Step
	case ev.Kind == trace.KindSet:
		return Overwrites, sent.Step
	case ev.Kind == trace.KindDelete:
		return RemovesUnchecked, sent.Step
	}
	return ExtendsUnchecked, sent.Step
}

// comparesNothing reports whether a command is one of those of Redis that touch a key
// whatever its value is.
func comparesNothing(command string) bool {
	words := strings.Fields(strings.ToUpper(command))
	if len(words) == 0 {
		return false
	}
	conditions := map[string][]string{ // the options with which the command compares something
		"SET": {"NX", "IFEQ", "IFNE", "IFDEQ", "IFDNE"}, "SETEX": nil, "PSETEX": nil, "GETSET": nil, "GETDEL": nil,
		"DEL": nil, "UNLINK": nil, "EXPIRE": {"NX"}, "PEXPIRE": {"NX"}, "EXPIREAT": {"NX"}, "PEXPIREAT": {"NX"}, "PERSIST": nil,
	}
	options, known := conditions[words[0]]
	return known && !slices.ContainsFunc(options, func(o string) bool { return slices.Contains(words[1:], o) })
}

// wasReadBefore reports whether the client read the key by a GET in the same call, before
// it sent a command.
func (h *inquiry) wasReadBefore(key string, sent *trace.Event) bool {
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		ev := m.Sent
		words := strings.Fields(ev.Text)
		return ev.Seq < sent.Seq && ev.Process == sent.Process && ev.Step == sent.Step && ev.Section == sent.Section && !ev.Reply &&
			len(words) == 2 && strings.EqualFold(words[0], "get") && words[1] == key
	})
}

// comparesEqualValues reports whether two acquisitions set a slot of the lock to the same
// value, and the lock sends that value again in order to compare it.
func (h *inquiry) comparesEqualValues() bool {
	type kept struct {
		history.Place
		value string
	}
	by := map[kept]history.Acquisition{}
	for _, k := range h.Holdings() {
		if k.By == nil || k.Value == "" || !h.IsLockKey(k.Key) {
			continue
		}
		at := kept{k.Place, k.Value}
		switch first, known := by[at]; {
		case !known:
			by[at] = k.Owner
		case first != k.Owner && h.sendsAgain(k.Value):
			return true
		}
	}
	return false
}

// sendsAgain reports whether a client sends a value in a request that is unlike those that
// set a key, as if to compare the value.
func (h *inquiry) sendsAgain(value string) bool {
	setting := map[string]bool{}
	for _, k := range h.Holdings() {
		if k.By != nil && h.Event(k.By.Sent) != nil {
			setting[h.Event(k.By.Sent).Text] = true
		}
	}
	return slices.ContainsFunc(h.Messages(), func(m *history.Message) bool {
		return !m.Sent.Reply && !setting[m.Sent.Text] && slices.Contains(strings.Fields(m.Sent.Text), value)
	})
}

// mistakeWithExclusion returns the mistake that two leases or two sections at the same time
// show.
func (h *inquiry) mistakeWithExclusion(f Finding) (Mistake, trace.Step) {
	for _, more := range f.Reason.More {
		switch more.Code {
		case Code(grantedByNobody):
			return GrantWithoutKey, trace.Acquire
		case Code(endedWhenGranted):
			return GrantsEndedLease, trace.Acquire
		case Code(renewedTooLate):
			return ExtendsTooLate, trace.Extend
		case Code(notifiedTooLate), Code(neverNotified):
			return NotifiesTooLate, ""
		}
	}
	if len(f.Events) < 2 {
		return Mistake(f.Property), ""
	}
	granted, second := h.Event(f.Events[0]), h.Event(f.Events[1])
	old := h.Section(history.Acquisition{Client: granted.Process, Section: granted.Section})
	if old == nil {
		return Mistake(f.Property), ""
	}
	slots, until := h.Slots(old.Lock), old.Lease.Until(second.Seq)
	for _, k := range h.HoldingsOf(old.Acquisition) {
		if k.By == nil || !slots.Has(k.Place) || k.Set.Seq > second.Seq {
			continue
		}
		end := k.Ended
		switch lasts := k.Due - k.Set.At; {
		case end != nil && end.Seq < second.Seq && k.How == history.Removed && history.AcquisitionOf(end.By) == old.Acquisition:
			return RemovesOwnKey, h.stepOf(end.By)
		case until == history.Never, k.Due >= until.At:
		case lasts <= (until.At-k.Set.At)/10:
			return KeyTooShort, trace.Acquire
		default:
			return LeaseOutlivesKey, h.stepOf(k.By)
		}
	}
	if h.comparesEqualValues() {
		return EqualValues, ""
	}
	return Mistake(f.Property), ""
}

// stepOf returns the call in which an actor sent its command; "" if it sent the command
// between two calls.
func (h *inquiry) stepOf(by *trace.Actor) trace.Step {
	if sent := h.Event(by.Sent); sent != nil {
		return sent.Step
	}
	return ""
}

// hasEndlessKey reports whether a key of a lock whose grants expire exists at the end of
// the run, and will never expire.
func (h *inquiry) hasEndlessKey() bool {
	return slices.ContainsFunc(h.Holdings(), func(k *history.Holding) bool {
		lock, kept := h.LockAt(k.Place)
		return kept && lock.TTL > 0 && k.Ended == nil && k.Due == history.Forever
	})
}
