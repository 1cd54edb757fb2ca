package checks

import "slices"

// A property is what has to hold of a run, and how that is judged. To add one, write a
// file that declares it and enter it in the list below.
type property struct {
	Card
	judge func(*inquiry) Finding
	// concerns says of which runs it is judged at all; nil is of all. No report of others
	// speaks of it.
	concerns func(*inquiry) bool
}

// A Card is all that anybody has to know of a property who does not judge it.
type Card struct {
	Property Property
	// Title is what holds, in one line.
	Title string
	// Broken is what has happened when it does not, as the end of a title has it; Word the
	// same in a cell of a table, which properties can share, and Means what that stands for.
	Broken, Word, Means string
	// Column is the heading of the property's column in a matrix of text, if it has one,
	// and Letter what stands for it in a cell there, if it has none.
	Column, Letter string
	Of             Subject
	// Gravity orders violations: 1 is the worst.
	Gravity int
	// ReportOnly says that a violation is reported and counts against nobody, unless it is the
	// lock's fault: see [Finding.Counts].
	ReportOnly bool
}

// A Subject is what a property is about.
type Subject string

const (
	// OfExclusion: that one client at a time holds the lock. Such a property has a column of
	// its own in a matrix.
	OfExclusion Subject = "exclusion"
	// OfData: what has become of the data. These decide whether a run is safe.
	OfData Subject = "data"
	// OfConduct: how else the lock, and those who use it, behave.
	OfConduct Subject = "conduct"
	// OfMisconduct: that the lock does nothing that no caller can live with. Of such a property
	// a verdict has a finding only if the lock violates it.
	OfMisconduct Subject = "misconduct"
)

// properties lists all of them, in the order in which they are reported.
var properties = []property{
	leaseExclusion,
	sectionExclusion,
	tokenOrder,
	grantOrder,
	writeOrder,
	noLostUpdate,
	serialSections,
	oncePerPeriod,
	releaseOwnership,
	progress,
	releaseAnswer,
	noPanic,
	noHang,
	noLeak,
	noEndlessRetry,
	canBeMade,
	conforms,
	extendsAsClaimed,
	notifiesAsClaimed,
	tokensAsClaimed,
	tellsAtReleaseAsClaimed,
	noGrowingTraffic,
	noTrafficAfterRelease,
	noKeyLeftBehind,
	ownKeyKnown,
	releaseWorks,
}

// Properties lists the properties in the order in which they are reported.
func Properties() []Property {
	names := make([]Property, len(properties))
	for i, p := range properties {
		names[i] = p.Property
	}
	return names
}

// Judged lists the properties of which any of some verdicts says something, in the order in
// which they are reported.
func Judged(verdicts ...*Verdict) []Property {
	return slices.DeleteFunc(Properties(), func(p Property) bool {
		return !slices.ContainsFunc(verdicts, func(v *Verdict) bool { return v.judges(p) })
	})
}

// PropertiesOf lists those that are about something.
func PropertiesOf(what Subject) []Property {
	return slices.DeleteFunc(Properties(), func(p Property) bool { return p.Card().Of != what })
}

// Card is the property's; of one that is not known it is empty, and its gravity the
// least.
func (p Property) Card() Card {
	for i := range properties {
		if properties[i].Property == p {
			return properties[i].Card
		}
	}
	return Card{Property: p, Gravity: len(properties) + 1}
}

// Title is one line for people. It is empty if there is no such property.
func (p Property) Title() string { return p.Card().Title }

// Data reports whether the property is about the data: those decide whether a
// run is safe.
func (p Property) Data() bool { return p.Card().Of == OfData }

func holds() Finding { return Finding{Outcome: Holds} }

func notApplicable(why Reason) Finding { return Finding{Outcome: NotApplicable, Reason: why} }

func unknown(why Reason) Finding { return Finding{Outcome: Unknown, Reason: why} }

// worse returns the violation that came first. To tell whose fault a violation is can
// mean to read the whole trace, so what is compared often is compared by its moment
// alone, and told only in the end.
func worse(a, b Finding) Finding {
	if a.Outcome != Violated || b.Outcome == Violated && b.At < a.At {
		return b
	}
	return a
}
