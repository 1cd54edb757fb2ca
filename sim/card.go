package sim

import (
	"reflect"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

// FaultKind is the card of a kind of fault: all that others have to know of it, as data.
// What a search, a suite or a picture does about a fault follows from its effect and
// from what is written here, so that a new kind with a known effect is one file.
type FaultKind struct {
	// Name is its key in a scenario.
	Name string
	// Title is one line for people.
	Title string
	// Effect is what it does to what it strikes.
	Effect trace.Effect
	// Instant kinds have no end: their actions are no [lifter]. Registering a card sets it.
	Instant bool
	// New returns a pointer to fresh parameters.
	New func() Action
	// Manners are those in which it happens, the common one first.
	Manners []Manner
	// Sites are where a search tries it; none if NotTried says why it is not tried.
	Sites    []Site
	NotTried string

	// parameters is the type of what New returns, and fields are what its fields say.
	parameters reflect.Type
	fields     map[string]int
}

// Patient kinds do not strike at their trigger: from then on they wait for what passes by.
func (k FaultKind) Patient() bool {
	_, waits := k.New().(interceptor)
	return waits
}

// HasSize says that such faults have a size other than how long they last.
func (k FaultKind) HasSize() bool { return parameter(k.New(), "size").IsValid() }

// A Manner is one way in which a kind of fault happens, and what is said of it.
type Manner struct {
	// Value is what the parameter tagged manner says; "" is the default. Where the sign of
	// the size makes a difference, [faultcard.Less] stands for one below zero.
	Value string
	// Slug is the fault in one word where such faults are told apart; "" is the kind's name.
	Slug string
	trace.Phrases
	// Roles are the processes to which it can happen so; none is those of the site.
	Roles []trace.Role
	// System is the kind of server whose nodes it can happen to so; "" is any.
	System string
	// Needs is what must be so that it differs from the common manner.
	Needs faultcard.Gate
}

// A Site is where faults of a kind can strike, and how large they are there.
type Site struct {
	// Roles are those of the processes that are struck.
	Roles []trace.Role
	At    faultcard.Occasion
	// Others are the processes at the other end.
	Others faultcard.Others
	// Lengths are how long it lasts, or, if it has a size that is a time, how large it is,
	// in percent of the TTL; none is for good, or no time at all.
	Lengths []int
	// Rates are its sizes if these are rates of clocks.
	Rates []Rate
	// Manners are the values of those that are tried; nil is all.
	Manners []string
	// Disks says that what a node writes to its disk makes a difference: each persistence
	// is tried.
	Disks bool
	// Needs is what must be so that it can act.
	Needs faultcard.Gate
}

// Sizes that searches try, in percent of the TTL: twice the TTL, just above it, just
// below it, and much smaller but larger than what clients wait for.
var (
	anyLength   = []int{200, 105, 95, 10}
	briefOrLong = []int{10, 105}
	brief       = []int{10}
)

var everybody = []trace.Role{trace.RoleClient, trace.RoleNode, trace.RoleService, trace.RoleStorage}

var (
	clients = []trace.Role{trace.RoleClient}
	nodes   = []trace.Role{trace.RoleNode}
	servers = []trace.Role{trace.RoleNode, trace.RoleService, trace.RoleStorage}
)

var faultKinds []FaultKind

// registerFault adds a kind of fault. It is for package initialisation;
// registering one name twice panics, because one of the two would silently never
// run.
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

// KindOf finds the kind that an action's parameters belong to; false if it is of no
// registered kind.
func KindOf(a Action) (FaultKind, bool) {
	is := reflect.TypeOf(a)
	for i := range faultKinds {
		if faultKinds[i].parameters == is {
			return faultKinds[i], true
		}
	}
	return FaultKind{}, false
}

// kind is the card of a fault's kind; that of no kind if it is not registered.
func (f Fault) kind() FaultKind {
	k, _ := KindOf(f.Action)
	return k
}

// Kind is the name of the fault's kind, such as pause; "" if that is not registered.
func (f Fault) Kind() string { return f.kind().Name }

// Effect is what the fault does.
func (f Fault) Effect() trace.Effect { return f.kind().Effect }

// Manner is how the fault happens; the common manner if its card has no other.
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

// Is is one word for the fault, such as pause, or suspend.
func (f Fault) Is() string {
	if slug := f.Manner().Slug; slug != "" {
		return slug
	}
	return f.Kind()
}
