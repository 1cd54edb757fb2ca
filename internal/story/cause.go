package story

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/trace"
)

// A Role is what a process, or several together, are to a lock: a cause has it where a fault
// has names. Slug is one word for it, which nobody reads.
type Role struct{ Slug, words string }

var (
	AClient    = Role{"client", "a client"}
	ANode      = Role{"node", "a node"}
	TheNode    = Role{"node", "the node"} // the only one
	TheStorage = Role{"storage", "the storage"}
	// AnOther is a process on which no lock is kept, and that does not ask for one: a
	// replica, a counter of tokens or a service.
	AnOther    = Role{"other", "another server"}
	AllNodes   = Role{"all-nodes", "all nodes"}
	Majority   = Role{"majority", "a majority of the nodes"}
	HalfOfThem = Role{"half", "half of the nodes"}
	Minority   = Role{"minority", "a minority of the nodes"}
)

// And is two roles together.
func (r Role) And(o Role) Role { return Role{r.Slug + "-" + o.Slug, r.words + " and " + o.words} }

// FaultOn is a fault as a thing, with the role of the process that it strikes: "a pause of a
// client".
func FaultOn(f trace.FaultInfo, on Role) string {
	return FaultNoun(f, func(string) string { return on.words })
}

// FaultBetween is a fault that acts between two roles: "a partition of a client from a
// majority of the nodes".
func FaultBetween(f trace.FaultInfo, on, others Role) string {
	f.Targets = [][]string{{on.words}, {others.words}}
	return FaultNoun(f, func(role string) string { return role })
}

// CrashOn is a crash with what the process writes to its disk, where that is known, and with
// how it happens, if it is told: "a crash of a node with persistence everysec (power loss)".
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

// LateMessage is a message to a peer, or a reply of it, that the network holds back. The
// role of the peer is told only if it is unusual where the message has a step.
func LateMessage(m trace.Message, peer Role, usual bool) string {
	words := ""
	switch {
	case m.Step != "" && m.Reply:
		words = "a late reply to " + article(string(m.Step))
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

// article is a noun with "a" or "an".
func article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// Cause lists the faults of a cause, which are in order: those that are alike are counted.
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

// Border says how large a fault has to be: "a pause of client-1: 29.87s is survived, 29.88s is
// not". survived is "" if any size will do.
func Border(fault, survived, broken string) string {
	if survived == "" {
		return Visible(fault) + ": any size will do"
	}
	return Visible(fault) + ": " + survived + " is survived, " + broken + " is not"
}
