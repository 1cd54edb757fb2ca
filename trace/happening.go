package trace

import (
	"fmt"
	"strings"
)

// A Happening is something that can happen in a run, and that an alternative of a [Point] waits
// for. It is one of [Start], [Action], [HoldsNode], [KeysExpired], [KeyExpired], [SessionExpired],
// [ClockJumped], [RequestServed], [Transit] and [StepEnded]. All of them can be compared with ==.
type Happening interface {
	// text returns the happening in the grammar of [Point].
	text() string
	participants() []participant
	rename(func(string) string) Happening
}

// A participant is a process that takes part in a happening, and the roles that it can have
// there; no roles means any role.
type participant struct {
	name  string
	roles []Role
}

var (
	clientRoles = []Role{RoleClient}
	callerRoles = []Role{RoleClient, RoleService}
	nodeRoles   = []Role{RoleNode}
	serverRoles = []Role{RoleNode, RoleService, RoleStorage}
	anyRole     []Role
)

// Start is the start of the run.
type Start struct{}

func (Start) text() string                           { return "the start" }
func (Start) participants() []participant            { return nil }
func (s Start) rename(func(string) string) Happening { return s }

// An Action means that a process did something, or that something was done to it.
type Action struct {
	Process string
	Verb    Verb
}

// A Verb is what a process did, or what was done to it.
type Verb string

const (
	Asked       Verb = "asked" // for the lock
	Acquired    Verb = "acquired"
	NotAcquired Verb = "failed to acquire"
	Minted      Verb = "minted" // a fencing token
	Marked      Verb = "marked" // an object, with its token
	HasRead     Verb = "read"
	Worked      Verb = "worked"
	Checked     Verb = "checked" // whether its lease has ended
	Wrote       Verb = "wrote"
	Extended    Verb = "extended" // its lease
	Released    Verb = "released"
	Cancelled   Verb = "cancelled"   // a call of the lock
	WasRefused  Verb = "was refused" // by the storage
	GaveUp      Verb = "gave up"     // the client stopped waiting for the storage
	Finished    Verb = "finished"    // the client's program ended
	Paused      Verb = "paused"
	Resumed     Verb = "resumed"
	Crashed     Verb = "crashed"
	Restarted   Verb = "restarted"
	Synced      Verb = "synced" // the node's file or snapshot reached the disk
	WasPromoted Verb = "was promoted"
	// BecameLeader is for a member of a cluster.
	BecameLeader Verb = "became leader"
	// Compacted is for a member of a cluster, which has discarded old revisions.
	Compacted Verb = "compacted"
	// WasNotified means that a client has received a notification that something it watches
	// has changed.
	WasNotified Verb = "was notified"
)

// verbs lists the verbs, each with the roles of the processes that can be its subject.
var verbs = []struct {
	verb  Verb
	roles []Role
}{
	{Asked, clientRoles},
	{Acquired, clientRoles},
	{NotAcquired, clientRoles},
	{Minted, clientRoles},
	{Marked, clientRoles},
	{HasRead, clientRoles},
	{Worked, clientRoles},
	{Checked, clientRoles},
	{Wrote, clientRoles},
	{Extended, clientRoles},
	{Released, clientRoles},
	{Cancelled, clientRoles},
	{WasRefused, clientRoles},
	{GaveUp, clientRoles},
	{Finished, clientRoles},
	{Paused, anyRole},
	{Resumed, anyRole},
	{Crashed, anyRole},
	{Restarted, serverRoles},
	{Synced, nodeRoles},
	{WasPromoted, nodeRoles},
	{BecameLeader, nodeRoles},
	{Compacted, nodeRoles},
	{WasNotified, clientRoles},
}

// Verbs lists all verbs.
func Verbs() []Verb {
	all := make([]Verb, len(verbs))
	for i, v := range verbs {
		all[i] = v.verb
	}
	return all
}

func (d Action) text() string { return d.Process + " " + string(d.Verb) }
func (d Action) participants() []participant {
	for _, v := range verbs {
		if v.verb == d.Verb {
			return []participant{{d.Process, v.roles}}
		}
	}
	return []participant{{d.Process, anyRole}}
}
func (d Action) rename(name func(string) string) Happening { return Action{name(d.Process), d.Verb} }

// HoldsNode means that a client has set its key on a node.
type HoldsNode struct{ Client, Node string }

func (h HoldsNode) text() string { return h.Client + " holds " + h.Node }
func (h HoldsNode) participants() []participant {
	return []participant{{h.Client, clientRoles}, {h.Node, nodeRoles}}
}
func (h HoldsNode) rename(name func(string) string) Happening {
	return HoldsNode{name(h.Client), name(h.Node)}
}

// KeysExpired means that the last remaining key of a client has expired.
type KeysExpired struct{ Client string }

func (k KeysExpired) text() string                { return k.Client + "'s keys expired" }
func (k KeysExpired) participants() []participant { return []participant{{k.Client, clientRoles}} }
func (k KeysExpired) rename(name func(string) string) Happening {
	return KeysExpired{name(k.Client)}
}

// KeyExpired means that the key that a client had set on a node has expired.
type KeyExpired struct{ Client, Node string }

func (k KeyExpired) text() string { return k.Client + "'s key expired on " + k.Node }
func (k KeyExpired) participants() []participant {
	return []participant{{k.Client, clientRoles}, {k.Node, nodeRoles}}
}
func (k KeyExpired) rename(name func(string) string) Happening {
	return KeyExpired{name(k.Client), name(k.Node)}
}

// SessionExpired means that a cluster has ended a client's session because it had no sign
// of life from the client for too long.
type SessionExpired struct{ Client string }

func (s SessionExpired) text() string                { return s.Client + "'s session expired" }
func (s SessionExpired) participants() []participant { return []participant{{s.Client, clientRoles}} }
func (s SessionExpired) rename(name func(string) string) Happening {
	return SessionExpired{name(s.Client)}
}

// ClockJumped means that a process's wall clock was set.
type ClockJumped struct{ Process string }

func (c ClockJumped) text() string                { return c.Process + "'s clock jumped" }
func (c ClockJumped) participants() []participant { return []participant{{c.Process, anyRole}} }
func (c ClockJumped) rename(name func(string) string) Happening {
	return ClockJumped{name(c.Process)}
}

// RequestServed means that the storage has handled a client's request: a mark, a read or a
// write.
type RequestServed struct {
	Client string
	Step   Step
	Answer Answer
}

// An Answer is how the storage handled a request.
type Answer string

const (
	Applied      Answer = "applied"
	Refused      Answer = "refused"
	TokenChecked Answer = "checked" // the storage checked the request's token, in a step of its own
)

func (s RequestServed) text() string {
	return fmt.Sprintf("%s %s %s's %s", StorageName, s.Answer, s.Client, s.Step)
}
func (s RequestServed) participants() []participant { return []participant{{s.Client, clientRoles}} }
func (s RequestServed) rename(name func(string) string) Happening {
	s.Client = name(s.Client)
	return s
}

// Transit means that a message is in flight, or has arrived. Without a peer, the happening is about
// several messages: all replies or requests that one critical section exchanges with the nodes of
// the lock are in flight at the same time, or have arrived.
type Transit struct {
	Message
	Arrived bool
}

func (t Transit) text() string {
	if t.Arrived {
		return t.Message.String() + " arrived"
	}
	return t.Message.String() + " is in flight"
}

func (t Transit) participants() []participant {
	parts := []participant{{t.Client, callerRoles}}
	if t.Peer != "" {
		parts = append(parts, participant{t.Peer, serverRoles})
	}
	return parts
}

func (t Transit) rename(name func(string) string) Happening {
	t.Message = t.Message.rename(name)
	return t
}

// StepEnded means that a client's step has ended, whether it succeeded or not.
type StepEnded struct {
	Client string
	Step   Step
}

func (s StepEnded) text() string                { return "after " + s.Client + " " + string(s.Step) }
func (s StepEnded) participants() []participant { return []participant{{s.Client, clientRoles}} }
func (s StepEnded) rename(name func(string) string) Happening {
	return StepEnded{name(s.Client), s.Step}
}

// parseHappening parses a happening in the grammar of [Point].
func parseHappening(s string) (Happening, error) {
	words := strings.Fields(s)
	if strings.Join(words, " ") == (Start{}).text() {
		return Start{}, nil
	}
	if len(words) < 2 || words[0] == "after" {
		return nil, newParseError(s, "is not a point", `write the process, then what happened, such as "client-1 acquired"`)
	}
	for _, tail := range []struct {
		words   string
		arrived bool
	}{{" is in flight", false}, {" are in flight", false}, {" arrived", true}} {
		if head, ok := strings.CutSuffix(s, tail.words); ok {
			return parseTransit(head, tail.arrived)
		}
	}
	if words[0] == StorageName && len(words) == 4 {
		client, ok := strings.CutSuffix(words[2], "'s")
		served := RequestServed{client, Step(words[3]), Answer(words[1])}
		switch served.Answer {
		case Applied, Refused, TokenChecked:
			if ok && served.Step.AtStorage() {
				return served, nil
			}
		}
	}
	if owner, ok := strings.CutSuffix(words[0], "'s"); ok {
		switch rest := strings.Join(words[1:], " "); {
		case rest == "keys expired":
			return KeysExpired{owner}, nil
		case rest == "session expired":
			return SessionExpired{owner}, nil
		case strings.HasPrefix(rest, "key expired on ") && len(words) == 5:
			return KeyExpired{owner, words[4]}, nil
		case rest == "clock jumped":
			return ClockJumped{owner}, nil
		}
		return nil, newParseError(s, "is not a point", fmt.Sprintf("after %q write one of: keys expired; key expired on NODE; session expired; clock jumped; request to PROCESS is in flight; reply to CLIENT arrived", words[0]))
	}
	rest := strings.Join(words[1:], " ")
	if words[1] == "holds" && len(words) == 3 {
		return HoldsNode{words[0], words[2]}, nil
	}
	known := make([]string, len(verbs))
	for i, v := range verbs {
		if string(v.verb) == rest {
			return Action{words[0], v.verb}, nil
		}
		known[i] = string(v.verb)
	}
	return nil, newParseError(s, "is not a point", fmt.Sprintf("after %q write one of: %s, holds NODE; after %q write one of: keys expired, key expired on NODE, session expired, clock jumped", words[0], strings.Join(known, ", "), words[0]+"'s"))
}
