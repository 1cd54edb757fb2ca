package story

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A Role describes one or more processes by their part in a lock, such as "a node". The
// description of a fault names processes. The description of a cause names roles instead, because
// a cause is a combination of faults that occurs in many worlds. Slug is a word for the role, for
// use in file names.
type Role struct{ Slug, words string }

var (
	AClient    = Role{"client", "a client"}
	ANode      = Role{"node", "a node"}
	TheNode    = Role{"node", "the node"} // the only node
	TheStorage = Role{"storage", "the storage"}
	// OtherServer is a process that keeps no lock and does not ask for one: a replica, a
	// token counter or a service.
	OtherServer = Role{"other", "another server"}
	AllNodes    = Role{"all-nodes", "all nodes"}
	Majority    = Role{"majority", "a majority of the nodes"}
	HalfOfNodes = Role{"half", "half of the nodes"}
	Minority    = Role{"minority", "a minority of the nodes"}
)

// And combines two roles.
func (r Role) And(o Role) Role { return Role{r.Slug + "-" + o.Slug, r.words + " and " + o.words} }

// FaultOn returns a noun phrase for a fault on a process with the given role: "a pause of a
// client".
func FaultOn(f trace.FaultInfo, on Role) string {
	return FaultNoun(f, func(string) string { return on.words })
}

// FaultBetween returns a noun phrase for a fault that acts between two roles: "a partition
// of a client from a majority of the nodes".
func FaultBetween(f trace.FaultInfo, on, others Role) string {
	f.Targets = [][]string{{on.words}, {others.words}}
	return FaultNoun(f, func(role string) string { return role })
}

// CrashOn returns a noun phrase for a crash, with the persistence of the process and the kind of
// crash: "a crash of a node with persistence everysec (power loss)". It leaves out disk or how if
// the value is "".
func CrashOn(f trace.FaultInfo, on Role, disk string, how trace.Crash) string {
	words := FaultOn(f, on)
	switch disk {
	case "":
	case "none":
		words += " without persistence"
	default:
		words += " with persistence " + disk
	}
	if how == "" {
		return words
	}
	return words + " (" + strings.ReplaceAll(string(how), "-", " ") + ")"
}

// LateMessage returns a noun phrase for a message that the network holds back on its way to or from
// a peer. usual says that the message's step usually involves this peer, so that the phrase need
// not name the peer's role.
func LateMessage(m trace.Message, peer Role, usual bool) string {
	words := ""
	switch {
	case m.Step != "" && m.Reply:
		words = "a late reply to " + withArticle(string(m.Step))
	case m.Step != "":
		words = "a late " + string(m.Step) + " request"
	case m.Reply:
		return "a late reply of " + peer.words
	default:
		return "a late request to " + peer.words
	}
	if usual {
		return words
	}
	return fmt.Sprintf("%s (%s)", words, peer.words)
}

// withArticle puts "a" or "an" before a noun.
func withArticle(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// Cause lists the faults of a cause, which must be sorted. A fault that occurs several
// times is listed once, with the number of times.
func Cause(faults []string) string {
	if len(faults) == 0 {
		return "no fault at all"
	}
	var parts []string
	for i := 0; i < len(faults); {
		n := 1
		for i+n < len(faults) && faults[i+n] == faults[i] {
			n++
		}
		part := Visible(faults[i])
		switch n {
		case 1:
		case 2:
			part += ", twice"
		default:
			part += fmt.Sprintf(", %d times", n)
		}
		parts, i = append(parts, part), i+n
	}
	return List(parts)
}

// Margin says how large a fault must be to break the lock in one particular way: "a pause of
// client-1: this happens with 29.88s, not with 29.87s". broken is the smallest size that broke the
// lock in this way, and survived the largest size that did not; survived is "" if every size that
// was tried broke it. A smaller fault may still break the lock in another way.
func Margin(fault, survived, broken string) string {
	if survived == "" {
		return Visible(fault) + ": this happens with any size"
	}
	return Visible(fault) + ": this happens with " + broken + ", not with " + survived
}
