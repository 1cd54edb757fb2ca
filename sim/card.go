package sim

import (
	"reflect"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

// FaultKind is the card of a kind of fault: everything that other packages need to know
// about it, as data. The search, the suite and the pictures decide by its effect and by
// this card what to do about a fault. A new kind with a known effect is therefore one file.
type FaultKind struct {
	// Name is the kind's key in a scenario.
	Name string
	// Title is one line for people.
	Title string
	// Effect is what the fault does to what it strikes.
	Effect trace.Effect
	// Instant kinds have no end: their actions are no [lifter]. registerFault sets it.
	Instant bool
	// New returns a pointer to fresh parameters.
	New func() Action
	// Manners are the ways in which the fault happens, the common one first.
	Manners []Manner
	// Sites are where a search tries the fault. They are empty if the search does not try
	// it; NotTried then says why.
	Sites    []Site
	NotTried string

	// parameters is the type of what New returns. fields maps each role of a parameter,
	// such as "size", to the index of its field.
	parameters reflect.Type
	fields     map[string]int
}

// IsPatient reports whether a fault of this kind waits after its trigger for a matching
// message or request, instead of striking immediately.
func (k FaultKind) IsPatient() bool {
	_, waits := k.New().(interceptor)
	return waits
}

// HasSize reports whether faults of this kind have a size other than how long they last.
func (k FaultKind) HasSize() bool { return parameter(k.New(), "size").IsValid() }

// A Manner is one way in which a kind of fault happens, with its phrases.
type Manner struct {
	// Value is the value of the parameter tagged manner; "" is the default. Where the sign
	// of the size makes the difference, [faultcard.Negative] is a size below zero.
	Value string
	// Slug is one word for the fault where its manners are distinguished; "" is the kind's
	// name.
	Slug string
	trace.Phrases
	// Roles are the processes to which the fault can happen in this manner; empty means
	// those of the site.
	Roles []trace.Role
	// System is the kind of server whose nodes the fault can strike in this manner; "" is
	// any.
	System string
	// Needs is the condition under which this manner differs from the common one.
	Needs faultcard.Gate
}

// A Site is a set of places where faults of a kind can strike, and how large they are
// there.
type Site struct {
	// Roles are those of the processes that are struck.
	Roles []trace.Role
	At    faultcard.Occasion
	// Others are the processes at the other end.
	Others faultcard.Others
	// Lengths are how long the fault lasts, in percent of the TTL. If the fault has a size
	// that is a time, they are that size. An empty slice means for good, or no time at all.
	Lengths []int
	// Rates are the fault's sizes if these are rates of clocks.
	Rates []Rate
	// Manners are the values of the manners that are tried; nil is all.
	Manners []string
	// Disks reports that it matters what a node writes to its disk: each persistence is
	// tried.
	Disks bool
	// Needs is the condition under which the fault can act.
	Needs faultcard.Gate
}

// Sizes that searches try, in percent of the TTL: twice the TTL, just above it, just below
// it, and much smaller but longer than clients wait for an answer.
var (
	anyLength   = []int{200, 105, 95, 10}
	briefOrLong = []int{10, 105}
	brief       = []int{10}
)

var allRoles = []trace.Role{trace.RoleClient, trace.RoleNode, trace.RoleService, trace.RoleStorage}

var (
	clients = []trace.Role{trace.RoleClient}
	nodes   = []trace.Role{trace.RoleNode}
	servers = []trace.Role{trace.RoleNode, trace.RoleService, trace.RoleStorage}
)

var faultKinds []FaultKind

// registerFault adds a kind of fault. It is for package initialisation. Registering one
// name twice panics, because one of the two would never run and nobody would notice.
func registerFault(k FaultKind) {
	if slices.ContainsFunc(faultKinds, func(o FaultKind) bool { return o.Name == k.Name }) {
		panic("sim: two kinds of faults are called " + k.Name)
	}
	_, lasts := k.New().(lifter)
	k.Instant = !lasts
	k.parameters = reflect.TypeOf(k.New())
	k.fields = fieldsOf(k.parameters.Elem(), k.Name)
	faultKinds = append(faultKinds, k)
	slices.SortFunc(faultKinds, func(a, b FaultKind) int { return strings.Compare(a.Name, b.Name) })
}

// FaultKinds lists the kinds of faults in alphabetical order.
func FaultKinds() []FaultKind { return slices.Clone(faultKinds) }

// KindOf finds the kind that an action's parameters belong to. ok is false if the kind is
// not registered.
func KindOf(a Action) (FaultKind, bool) {
	typ := reflect.TypeOf(a)
	for i := range faultKinds {
		if faultKinds[i].parameters == typ {
			return faultKinds[i], true
		}
	}
	return FaultKind{}, false
}

// kind returns the card of the fault's kind; a zero card if it is not registered.
func (f Fault) kind() FaultKind {
	k, _ := KindOf(f.Action)
	return k
}

// Kind returns the name of the fault's kind, such as pause; "" if the kind is not
// registered.
func (f Fault) Kind() string { return f.kind().Name }

// Effect returns what the fault does to what it strikes.
func (f Fault) Effect() trace.Effect { return f.kind().Effect }

// Manner returns the way in which the fault happens. It is the common manner if the card
// has no other.
func (f Fault) Manner() Manner {
	all := f.kind().Manners
	for _, m := range all {
		if m.Value == f.manner() {
			return m
		}
	}
	if len(all) == 0 {
		return Manner{}
	}
	return all[0]
}

// Slug returns one word for the fault, such as pause or suspend.
func (f Fault) Slug() string {
	if slug := f.Manner().Slug; slug != "" {
		return slug
	}
	return f.Kind()
}
