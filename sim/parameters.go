package sim

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/faultcard"
	"github.com/locksim/locksim/trace"
)

// What each parameter of an action says follows from its tags. The one whose yaml tag is
// the name of the kind is the target: a process, or a message. Each other has a tag
// "fault" with one of these words:
//
//	others  the process at the other end, or several
//	manner  how it happens: one of the values of the card's manners
//	size    how large it is: a time, or a rate
//	step    the step in which the client must be

// parameter finds the action's parameter that says something; the zero Value if it has
// none.
func parameter(a Action, says string) reflect.Value {
	v := reflect.ValueOf(a).Elem()
	kind, registered := KindOf(a)
	if !registered {
		kind.fields = fieldsOf(v.Type(), "")
	}
	i, has := kind.fields[says]
	if !has {
		return reflect.Value{}
	}
	return v.Field(i)
}

// fieldsOf finds what the fields of a kind's parameters say. A search asks many times for
// each world, so a card keeps it.
func fieldsOf(parameters reflect.Type, kind string) map[string]int {
	fields := map[string]int{}
	for i := range parameters.NumField() {
		tag := parameters.Field(i).Tag
		says := tag.Get("fault")
		if name, _, _ := strings.Cut(tag.Get("yaml"), ","); name == kind {
			says = "target"
		}
		if _, taken := fields[says]; says != "" && !taken {
			fields[says] = i
		}
	}
	return fields
}

// text is a parameter that is a text; "" if there is none.
func text(v reflect.Value) string {
	if v.IsValid() && v.Kind() == reflect.String {
		return v.String()
	}
	return ""
}

// Target is the process that the fault strikes; "" if it is a message that it strikes.
func (f Fault) Target() string { return text(parameter(f.Action, "target")) }

// as is a parameter if it is of a type; false if it is not, or if there is none.
func as[T any](v reflect.Value) (is T, ok bool) {
	if v.IsValid() {
		is, ok = v.Interface().(T)
	}
	return is, ok
}

// Message is the message that the fault waits for; false if it waits for none.
func (f Fault) Message() (trace.NthMessage, bool) {
	return as[trace.NthMessage](parameter(f.Action, "target"))
}

// Others are the processes at the other end: those of a partition, a reset or a delay.
func (f Fault) Others() []string {
	switch v := parameter(f.Action, "others"); {
	case !v.IsValid():
		return nil
	case v.Kind() == reflect.Slice:
		return slices.Clone(v.Interface().([]string))
	default:
		return []string{v.String()}
	}
}

// Targets names the processes that the fault needs, group by group: it can act if at
// least one of each group has a part in the story.
func (f Fault) Targets() [][]string {
	if m, ok := f.Message(); ok {
		return [][]string{{m.Client}, {m.Peer}}
	}
	groups := [][]string{{f.Target()}}
	if others := f.Others(); others != nil {
		groups = append(groups, others)
	}
	return groups
}

// Step is the step in which the client must be; "" is the kind's default, or none.
func (f Fault) Step() trace.Step { return trace.Step(text(parameter(f.Action, "step"))) }

// How is what the parameter says that tells how the fault happens; "" is as most do.
func (f Fault) How() string { return text(parameter(f.Action, "manner")) }

// manner is the value of the fault's manner.
func (f Fault) manner() string {
	if size := parameter(f.Action, "size"); size.IsValid() && size.Int() < 0 {
		return faultcard.Less
	}
	return f.How()
}

// By is the fault's size if that is a time other than how long it lasts: how far a clock
// is set, or how much longer a message takes.
func (f Fault) By() time.Duration {
	by, _ := as[time.Duration](parameter(f.Action, "size"))
	return by
}

// Rate is the fault's size if that is how much too fast a clock runs.
func (f Fault) Rate() Rate {
	rate, _ := as[Rate](parameter(f.Action, "size"))
	return rate
}

// A Size is how large a fault is: a time in nanoseconds, or a rate in parts per billion,
// by its magnitude. The zero Size is none.
type Size struct {
	Time time.Duration
	Rate Rate
}

// String is the size as scenarios have it, without a sign.
func (s Size) String() string {
	if s.Rate != 0 {
		return strings.TrimLeft(s.Rate.String(), "+-")
	}
	return trace.ShortDuration(s.Time)
}

// Less says whether a size is smaller than another of the same unit.
func (s Size) Less(o Size) bool { return s.Time < o.Time || s.Rate < o.Rate }

// Size is how large the fault is: what its size says, whatever the sign, and of one that
// has none how long it lasts.
func (f Fault) Size() Size {
	switch {
	case f.By() != 0:
		return Size{Time: f.By().Abs()}
	case f.Rate() != 0:
		return Size{Rate: f.Rate().abs()}
	}
	return Size{Time: f.For}
}

// Sized is the fault with another size, of the same unit, that goes the same way. What
// takes longer for a while does so for as long.
func (f Fault) Sized(size Size) Fault {
	v := parameter(f.Action, "size")
	if !v.IsValid() {
		f.For = size.Time
		return f
	}
	n := int64(size.Time) + int64(size.Rate)
	if v.Int() < 0 {
		n = -n
	}
	if size.Time != 0 && !f.kind().Instant {
		f.For = size.Time
	}
	return f.set("size", reflect.ValueOf(n).Convert(v.Type()))
}

// set is the fault with another value for a parameter.
func (f Fault) set(says string, to reflect.Value) Fault {
	changed := reflect.New(reflect.TypeOf(f.Action).Elem())
	changed.Elem().Set(reflect.ValueOf(f.Action).Elem())
	f.Action = changed.Interface().(Action)
	parameter(f.Action, says).Set(to)
	return f
}

// Common is the fault as such faults commonly happen.
func (f Fault) Common() Fault {
	if f.How() == "" {
		return f
	}
	return f.set("manner", reflect.Zero(parameter(f.Action, "manner").Type()))
}

// On is the fault with another message that it waits for.
func (f Fault) On(m trace.NthMessage) Fault { return f.set("target", reflect.ValueOf(m)) }

// Among is the fault with other processes at the other end.
func (f Fault) Among(others []string) Fault {
	v := parameter(f.Action, "others")
	if v.Kind() == reflect.Slice {
		return f.set("others", reflect.ValueOf(slices.Clone(others)))
	}
	return f.set("others", reflect.ValueOf(others[0]))
}

// Renamed is the fault with other names for its processes, also in when it strikes.
func (f Fault) Renamed(name func(string) string) Fault {
	f.Strikes.Before, f.Strikes.When = f.Strikes.Before.Rename(name), f.Strikes.When.Rename(name)
	f.Until = f.Until.Rename(name)
	if f.ByClockOf != "" {
		f.ByClockOf = name(f.ByClockOf)
	}
	if m, ok := f.Message(); ok {
		return f.On(m.Rename(name))
	}
	f = f.set("target", reflect.ValueOf(name(f.Target())))
	if others := f.Others(); others != nil {
		for i, other := range others {
			others[i] = name(other)
		}
		f = f.Among(others)
	}
	return f
}

// Parts are what a fault does, for documents and searches: one type for all kinds. Which
// of them a fault has depends on its kind.
type Parts struct {
	// Kind is the name of the kind of fault.
	Kind string `json:"kind"`
	// Target is what it strikes: a process, or the message that is held.
	Target string `json:"target"`
	// Others are the processes at the other end.
	Others []string `json:"others,omitempty"`
	// How is the manner; "" is as most do.
	How string `json:"how,omitempty"`
	// Step is the step in which a client must be.
	Step trace.Step `json:"step,omitempty"`
	// By is how far a clock is set, or how much longer a message takes, and Rate how much
	// too fast a clock runs.
	By   time.Duration `json:"by,omitempty"`
	Rate Rate          `json:"rate,omitzero"`
}

// Parts are what the fault does.
func (f Fault) Parts() Parts {
	p := Parts{
		Kind: f.Kind(), Target: f.Target(), Others: f.Others(), How: f.How(), Step: f.Step(),
		By: f.By(), Rate: f.Rate(),
	}
	if m, ok := f.Message(); ok {
		p.Target = m.String()
	}
	return p
}

// Fault is the fault with the parts, which strikes at the start. The error says which of
// them its kind has no place for. Whether what they say makes sense in a world, and
// whether a size is there, is for [Action].Check to tell.
func (p Parts) Fault() (Fault, error) {
	var f Fault
	i := slices.IndexFunc(faultKinds, func(k FaultKind) bool { return k.Name == p.Kind })
	if i < 0 {
		return f, fmt.Errorf("there is no kind of fault %q here: a later version may have written it", p.Kind)
	}
	f.Action = faultKinds[i].New()
	if _, message := f.Message(); message {
		m, err := trace.ParseNthMessage(p.Target)
		if err != nil {
			return f, err
		}
		f = f.On(m)
	} else {
		f = f.set("target", reflect.ValueOf(p.Target))
	}
	size := reflect.ValueOf(p.By)
	if p.Rate != 0 {
		size = reflect.ValueOf(p.Rate)
	}
	for _, part := range []struct {
		says, words string
		given       bool
		value       reflect.Value
	}{
		{"others", "others", len(p.Others) > 0, reflect.ValueOf(p.Others)},
		{"manner", "how", p.How != "", reflect.ValueOf(p.How)},
		{"step", "step", p.Step != "", reflect.ValueOf(p.Step)},
		{"size", "size", !size.IsZero(), size},
	} {
		has := parameter(f.Action, part.says)
		switch {
		case !part.given && (part.says == "others" && has.IsValid()):
			return f, fmt.Errorf("a %s has somebody at its other end, and others is empty", p.Kind)
		case !part.given:
		case !has.IsValid():
			return f, fmt.Errorf("a %s has no %s", p.Kind, part.words)
		case part.says == "others":
			f = f.Among(p.Others)
		case part.says == "size" && has.Type() != part.value.Type():
			return f, fmt.Errorf("the size of a %s is no %s", p.Kind, unitOf(part.value))
		default:
			f = f.set(part.says, part.value.Convert(has.Type()))
		}
	}
	return f, nil
}

// unitOf is what a size is.
func unitOf(size reflect.Value) string {
	if _, rate := size.Interface().(Rate); rate {
		return "rate"
	}
	return "time"
}
