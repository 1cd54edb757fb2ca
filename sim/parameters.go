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

// Tags define the role of each parameter of an action. The parameter whose yaml tag is the
// name of the kind is the target: a process, or a message. Each other parameter has a tag
// "fault" with one of these words:
//
//	others  the process at the other end, or several
//	manner  how it happens: one of the values of the card's manners
//	size    how large it is: a time, or a rate
//	step    the step in which the client must be

// parameter finds the action's parameter with a role; the zero Value if it has none.
func parameter(a Action, role string) reflect.Value {
	v := reflect.ValueOf(a).Elem()
	kind, registered := KindOf(a)
	if !registered {
		kind.fields = fieldsOf(v.Type(), "")
	}
	i, has := kind.fields[role]
	if !has {
		return reflect.Value{}
	}
	return v.Field(i)
}

// fieldsOf returns the index of the field for each role of the parameters of a kind. A
// search needs it many times for each world, so a card keeps it.
func fieldsOf(parameters reflect.Type, kind string) map[string]int {
	fields := map[string]int{}
	for i := range parameters.NumField() {
		tag := parameters.Field(i).Tag
		role := tag.Get("fault")
		if name, _, _ := strings.Cut(tag.Get("yaml"), ","); name == kind {
			role = "target"
		}
		if _, taken := fields[role]; role != "" && !taken {
			fields[role] = i
		}
	}
	return fields
}

// textOf returns a parameter that is a text; "" if it is not one.
func textOf(v reflect.Value) string {
	if v.IsValid() && v.Kind() == reflect.String {
		return v.String()
	}
	return ""
}

// Target returns the process that the fault strikes; "" if the fault strikes a message.
func (f Fault) Target() string { return textOf(parameter(f.Action, "target")) }

// parameterAs returns a parameter as a value of type T. ok is false if it has another type,
// or does not exist.
func parameterAs[T any](v reflect.Value) (value T, ok bool) {
	if v.IsValid() {
		value, ok = v.Interface().(T)
	}
	return value, ok
}

// Message returns the message that the fault waits for; false if it waits for none.
func (f Fault) Message() (trace.NthMessage, bool) {
	return parameterAs[trace.NthMessage](parameter(f.Action, "target"))
}

// Others returns the processes at the other end: those of a partition, a reset or a delay.
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

// Targets returns the names of the processes that the fault needs, in groups. It can act if
// at least one process of each group has a part in the story.
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

// Step returns the step in which the client must be; "" is the kind's default, or none.
func (f Fault) Step() trace.Step { return trace.Step(textOf(parameter(f.Action, "step"))) }

// How returns the value of the parameter that selects the manner; "" is the common manner.
func (f Fault) How() string { return textOf(parameter(f.Action, "manner")) }

// manner returns the value of the fault's manner.
func (f Fault) manner() string {
	if size := parameter(f.Action, "size"); size.IsValid() && size.Int() < 0 {
		return faultcard.Negative
	}
	return f.How()
}

// By returns the fault's size if that is a time other than how long the fault lasts: how
// far a clock is set, or how much longer a message takes.
func (f Fault) By() time.Duration {
	by, _ := parameterAs[time.Duration](parameter(f.Action, "size"))
	return by
}

// Rate returns the fault's size if that is how much too fast a clock runs.
func (f Fault) Rate() Rate {
	rate, _ := parameterAs[Rate](parameter(f.Action, "size"))
	return rate
}

// A Size is how large a fault is, without a sign: a time in nanoseconds, or a rate in parts
// per billion. The zero Size is none.
type Size struct {
	Time time.Duration
	Rate Rate
}

// String returns the size as scenarios write it, without a sign.
func (s Size) String() string {
	if s.Rate != 0 {
		return strings.TrimLeft(s.Rate.String(), "+-")
	}
	return trace.ShortDuration(s.Time)
}

// Less reports whether a size is smaller than another one of the same unit.
func (s Size) Less(o Size) bool { return s.Time < o.Time || s.Rate < o.Rate }

// Size returns how large the fault is: its size parameter without the sign, or, if it has
// none, how long the fault lasts.
func (f Fault) Size() Size {
	switch {
	case f.By() != 0:
		return Size{Time: f.By().Abs()}
	case f.Rate() != 0:
		return Size{Rate: f.Rate().abs()}
	}
	return Size{Time: f.For}
}

// WithSize returns the fault with another size of the same unit and the same sign. If both
// its size and its duration are times, both become the new one.
func (f Fault) WithSize(size Size) Fault {
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
	return f.with("size", reflect.ValueOf(n).Convert(v.Type()))
}

// with returns the fault with another value for the parameter with a role.
func (f Fault) with(role string, to reflect.Value) Fault {
	changed := reflect.New(reflect.TypeOf(f.Action).Elem())
	changed.Elem().Set(reflect.ValueOf(f.Action).Elem())
	f.Action = changed.Interface().(Action)
	parameter(f.Action, role).Set(to)
	return f
}

// WithCommonManner returns the fault in the common manner of its kind.
func (f Fault) WithCommonManner() Fault {
	if f.How() == "" {
		return f
	}
	return f.with("manner", reflect.Zero(parameter(f.Action, "manner").Type()))
}

// WithMessage returns the fault with another message to wait for.
func (f Fault) WithMessage(m trace.NthMessage) Fault { return f.with("target", reflect.ValueOf(m)) }

// WithOthers returns the fault with other processes at the other end.
func (f Fault) WithOthers(others []string) Fault {
	v := parameter(f.Action, "others")
	if v.Kind() == reflect.Slice {
		return f.with("others", reflect.ValueOf(slices.Clone(others)))
	}
	return f.with("others", reflect.ValueOf(others[0]))
}

// WithNames returns the fault with its processes renamed, including those in its trigger
// and its end.
func (f Fault) WithNames(name func(string) string) Fault {
	f.Strikes.Before, f.Strikes.When = f.Strikes.Before.Rename(name), f.Strikes.When.Rename(name)
	f.Until = f.Until.Rename(name)
	if f.ByClockOf != "" {
		f.ByClockOf = name(f.ByClockOf)
	}
	if m, ok := f.Message(); ok {
		return f.WithMessage(m.Rename(name))
	}
	f = f.with("target", reflect.ValueOf(name(f.Target())))
	if others := f.Others(); others != nil {
		for i, other := range others {
			others[i] = name(other)
		}
		f = f.WithOthers(others)
	}
	return f
}

// Parts describes what a fault does, for documents and searches: one type for all kinds.
// Which fields are set depends on the kind.
type Parts struct {
	// Kind is the name of the kind of fault.
	Kind string `json:"kind"`
	// Target is what the fault strikes: a process, or the message that is held.
	Target string `json:"target"`
	// Others are the processes at the other end.
	Others []string `json:"others,omitempty"`
	// How is the manner; "" is the common one.
	How string `json:"how,omitempty"`
	// Step is the step in which a client must be.
	Step trace.Step `json:"step,omitempty"`
	// By is how far a clock is set, or how much longer a message takes. Rate is how much
	// too fast a clock runs.
	By   time.Duration `json:"by,omitempty"`
	Rate Rate          `json:"rate,omitzero"`
}

// Parts returns what the fault does.
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

// Fault returns the fault with these parts, which strikes at the start. The error names a
// part that its kind does not have. Whether the values make sense in a world, and whether a
// size is missing, is checked by [Fault.Check].
func (p Parts) Fault() (Fault, error) {
	var f Fault
	i := slices.IndexFunc(faultKinds, func(k FaultKind) bool { return k.Name == p.Kind })
	if i < 0 {
		return f, fmt.Errorf("there is no kind of fault %q: a later version of locksim may have written it", p.Kind)
	}
	f.Action = faultKinds[i].New()
	if _, message := f.Message(); message {
		m, err := trace.ParseNthMessage(p.Target)
		if err != nil {
			return f, err
		}
		f = f.WithMessage(m)
	} else {
		f = f.with("target", reflect.ValueOf(p.Target))
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
			return f, fmt.Errorf("a %s needs a process at its other end, but others is empty", p.Kind)
		case !part.given:
		case !has.IsValid():
			return f, fmt.Errorf("a %s has no %s", p.Kind, part.words)
		case part.says == "others":
			f = f.WithOthers(p.Others)
		case part.says == "size" && has.Type() != part.value.Type():
			return f, fmt.Errorf("the size of a %s is not a %s", p.Kind, unitOf(part.value))
		default:
			f = f.with(part.says, part.value.Convert(has.Type()))
		}
	}
	return f, nil
}

// unitOf returns what a size is: "rate" or "time".
func unitOf(size reflect.Value) string {
	if _, rate := size.Interface().(Rate); rate {
		return "rate"
	}
	return "time"
}
