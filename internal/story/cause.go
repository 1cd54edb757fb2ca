package story

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A Role describes one or more processes by their part in a lock. The description of a
// cause names roles, where that of a fault names processes, because a cause covers many
// worlds. Slug is a word for the role, for use in file names.
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

// CrashOn returns a noun phrase for a crash, with the persistence of the process and the
// kind of crash: "a crash of a node with persistence everysec (power loss)". It leaves out
// disk or how if that is "".
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

// LateMessage returns a noun phrase for a message to or from a peer that the network holds
// back. If the message belongs to a step, the phrase names the role of the peer only if the
// peer is not the usual one for that step.
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

// Margin says how large a fault must be for what a way describes: "a pause of client-1: this
// happens with 29.88s, not with 29.87s". survived is the largest size with which it did not happen,
// and broken the smallest with which it did; survived is "" if it happens with any size. With a
// smaller size something else may happen, which is another way.
func Margin(fault, survived, broken string) string {
	if survived == "" {
		return Visible(fault) + ": this happens with any size"
	}
	return Visible(fault) + ": this happens with " + broken + ", not with " + survived
}
