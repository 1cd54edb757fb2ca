package checks

// A property of a run. To add one, write a file that declares it and enter it
// in the list below.
type property struct {
	name  Property
	title string
	// data says that the property is about the data and not about the lock.
	data  bool
	judge func(*inquiry) Finding
}

// properties lists all of them: four describe the lock, three the data, and two
// how the lock gets along with others.
var properties = []property{
	leaseExclusion,
	sectionExclusion,
	tokenOrder,
	grantOrder,
	writeOrder,
	noLostUpdate,
	serialSections,
	releaseOwnership,
	progress,
}

// Properties lists the properties in the order in which they are reported.
func Properties() []Property {
	names := make([]Property, len(properties))
	for i, p := range properties {
		names[i] = p.name
	}
	return names
}

// Title is one line for people. It is empty if there is no such property.
func (p Property) Title() string {
	for _, known := range properties {
		if known.name == p {
			return known.title
		}
	}
	return ""
}

// Data reports whether the property is about the data: those decide whether a
// run is safe.
func (p Property) Data() bool {
	for _, known := range properties {
		if known.name == p {
			return known.data
		}
	}
	return false
}

func holds() Finding { return Finding{Outcome: Holds} }

func notApplicable(code Code, args ...any) Finding {
	return Finding{Outcome: NotApplicable, Reason: Because(code, args...)}
}

func unknown(code Code, args ...any) Finding {
	return Finding{Outcome: Unknown, Reason: Because(code, args...)}
}

// worse returns the violation that came first. To tell whose fault a violation is can
// mean to read the whole trace, so what is compared often is compared by its moment
// alone, and told only in the end.
func worse(a, b Finding) Finding {
	if a.Outcome != Violated || b.Outcome == Violated && b.At < a.At {
		return b
	}
	return a
}
