package sim

import (
	"reflect"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

// FaultKind describes a kind of fault to other packages, as data; it is the kind's card. Other
// packages, such as the search for faults that break a lock, use only the card. So a new kind
// of fault with one of the existing effects needs only one new file.
type FaultKind struct {
	// Name is the kind's key in a scenario.
	Name string
	// Title is one line for people.
	Title string
	// Effect is what the fault does to what it strikes.
	Effect trace.Effect
	// Instant reports that faults of the kind have no end, because their action is no [lifter].
	// registerFault sets this field.
	Instant bool
	// New returns an action of this kind whose parameters are not set.
	New func() Action
	// Manners are the ways in which the fault happens, the common one first.
	Manners []Manner
	// Sites are where a search tries the fault. If no search tries the kind, Sites is empty and
	// NotTried says why.
	Sites    []Site
	NotTried string

	// parameters is the type that New returns. fields maps each role of a parameter, such
	// as "size", to the index of its field in the struct.
	parameters reflect.Type
	fields     map[string]int
}

// IsPatient reports whether a fault of this kind waits, after its trigger, for a matching
// message or request, and strikes then. Other faults strike at their trigger.
func (k FaultKind) IsPatient() bool {
	_, waits := k.New().(interceptor)
	return waits
}

// HasSize reports whether faults of this kind have a size in addition to how long they
// last.
func (k FaultKind) HasSize() bool { return parameter(k.New(), "size").IsValid() }

// A Manner is one form that a kind of fault can take, such as a crash by power loss. Its
// phrases describe a fault of this form in a story.
type Manner struct {
	// Value is the value of the parameter with the role manner; "" is the default. If the
	// sign of the size selects the manner, Value is [faultcard.Negative] for a size below
	// zero.
	Value string
	// Slug is a word for a fault of this manner, as in the IDs and file names of a search; ""
	// means the kind's name.
	Slug string
	trace.Phrases
	// Roles are the roles of the processes that the fault can strike in this manner; if Roles is
	// empty, the Roles of the [Site] count.
	Roles []trace.Role
	// System is the kind of server whose nodes the fault can strike in this manner; ""
	// means any kind.
	System string
	// Needs is the condition under which this manner has another effect than the common
	// manner.
	Needs faultcard.Gate
}

// A Site describes where a search tries faults of a kind, and in which sizes.
type Site struct {
	// Roles are the roles of the processes that the fault strikes.
	Roles []trace.Role
	// At is when the fault strikes.
	At faultcard.Occasion
	// Others are the processes at the other end of the links or connections that the fault
	// acts on.
	Others faultcard.Others
	// Lengths are how long the fault lasts, in percent of the TTL. If the fault has a size
	// that is a time, Lengths are its sizes. If Lengths is empty, the fault is instant or
	// lasts until the end of the run.
	Lengths []int
	// Rates are the sizes of a fault whose size is the rate of a clock.
	Rates []Rate
	// Manners are the values of the manners that the search tries; nil means all.
	Manners []string
	// Disks reports that the effect depends on what a node writes to its disk, so the search tries
	// each [Persistence].
	Disks bool
	// Needs is the condition under which the fault can have an effect.
	Needs faultcard.Gate
}

// These are the lengths that searches try, in percent of the TTL: twice the TTL, slightly
// more, slightly less, and a tenth. A tenth is still longer than clients wait for an
// answer.
var (
	anyLength   = []int{200, 105, 95, 10}
	briefOrLong = []int{10, 105}
	brief       = []int{10}
)

// These are groups of roles for the Roles of a [Site].
var allRoles = []trace.Role{trace.RoleClient, trace.RoleNode, trace.RoleService, trace.RoleStorage}

var (
	clients = []trace.Role{trace.RoleClient}
	nodes   = []trace.Role{trace.RoleNode}
	servers = []trace.Role{trace.RoleNode, trace.RoleService, trace.RoleStorage}
)

// faultKinds are the registered kinds, in alphabetical order.
var faultKinds []FaultKind

// registerFault adds a kind of fault. Call it during package initialisation. It panics if
// the name is already registered: otherwise one of the two kinds would be ignored without
// an error.
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

// KindOf returns the kind of fault that has this type of action. It returns false if no
// such kind is registered.
func KindOf(a Action) (FaultKind, bool) {
	typ := reflect.TypeOf(a)
	for i := range faultKinds {
		if faultKinds[i].parameters == typ {
			return faultKinds[i], true
		}
	}
	return FaultKind{}, false
}

// kind returns the card of the fault's kind, or a zero card if the kind is not registered.
func (f Fault) kind() FaultKind {
	k, _ := KindOf(f.Action)
	return k
}

// Kind returns the name of the fault's kind, such as pause; "" if the kind is not
// registered.
func (f Fault) Kind() string { return f.kind().Name }

// Effect returns what the fault does to its target.
func (f Fault) Effect() trace.Effect { return f.kind().Effect }

// Manner returns the fault's manner from the card of its kind. It returns the first manner of the
// card if no manner has the value that the fault's parameters contain.
func (f Fault) Manner() Manner {
	all := f.kind().Manners
	for _, m := range all {
		if m.Value == f.mannerValue() {
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
