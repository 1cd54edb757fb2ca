package checks

import "slices"

// A property is something that has to hold of a run, and the function that judges it. To
// add one, write a file that declares it and add it to the list below.
type property struct {
	Card
	judge func(*judgedRun) Finding
	// appliesTo reports whether a run is judged by the property; nil means every run is. Reports of
	// other runs do not mention the property.
	appliesTo func(*judgedRun) bool
}

// A Card describes a property to the rest of the program: everything but how it is judged.
type Card struct {
	Property Property
	// Title says, in one line, what is true if the property holds.
	Title string
	// Broken says what has happened if the property is violated, as the end of a headline.
	// Label says the same in a cell of a table; several properties can have the same label.
	// Meaning explains the label.
	Broken, Label, Meaning string
	// Column is the heading of the property's column in a text matrix, if it has one. Letter marks
	// a violation in a cell of the matrix if the property has no column.
	Column, Letter string
	Subject        Subject
	// Gravity says how bad a violation is, from 1, the worst.
	Gravity int
	// ReportOnly says that a violation is reported but does not count, unless it is the
	// lock's fault: see [Finding.Counts].
	ReportOnly bool
}

// A Subject is what a property is about.
type Subject string

const (
	// SubjectExclusion: one client at a time holds the lock. Such a property has a column
	// of its own in a matrix.
	SubjectExclusion Subject = "exclusion"
	// SubjectData: what happened to the data. These properties decide whether a run is
	// safe.
	SubjectData Subject = "data"
	// SubjectConduct: what else the lock and its clients do. Such a property has a letter
	// in a matrix (see [Card.Letter]), and no column.
	SubjectConduct Subject = "conduct"
	// SubjectMisconduct: behaviour of the lock that no caller can accept. A verdict has a
	// finding on such a property only if the lock violates it.
	SubjectMisconduct Subject = "misconduct"
)

// properties lists all properties, in the order in which they are reported.
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
	reportsLossAtReleaseAsClaimed,
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

// JudgedProperties lists the properties on which at least one of the verdicts has a
// finding, in the order in which they are reported.
func JudgedProperties(verdicts ...*Verdict) []Property {
	return slices.DeleteFunc(Properties(), func(p Property) bool {
		return !slices.ContainsFunc(verdicts, func(v *Verdict) bool { return v.covers(p) })
	})
}

// PropertiesOf lists the properties about a subject.
func PropertiesOf(subject Subject) []Property {
	return slices.DeleteFunc(Properties(), func(p Property) bool { return p.Card().Subject != subject })
}

// Card returns the property's card. The card of an unknown property has only its name, and
// the least gravity.
func (p Property) Card() Card {
	for i := range properties {
		if properties[i].Property == p {
			return properties[i].Card
		}
	}
	return Card{Property: p, Gravity: len(properties) + 1}
}

// Title returns the property's title, one line for people; "" if there is no such property.
func (p Property) Title() string { return p.Card().Title }

// IsData reports whether the property is about the data. These properties decide whether a
// run is safe.
func (p Property) IsData() bool { return p.Card().Subject == SubjectData }

func holds() Finding { return Finding{Outcome: Holds} }

func notApplicable(why Reason) Finding { return Finding{Outcome: NotApplicable, Reason: why} }

func unknown(why Reason) Finding { return Finding{Outcome: Unknown, Reason: why} }

// worse returns the finding that is a violation, and of two violations the one that came first. It
// does not compare whose fault they are: to find that out can require reading the whole trace, so
// it is done only for the finding that remains.
func worse(a, b Finding) Finding {
	if a.Outcome != Violated || b.Outcome == Violated && b.At < a.At {
		return b
	}
	return a
}
