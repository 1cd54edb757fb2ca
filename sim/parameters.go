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

// This file reads and changes the parameters of a fault of any kind. An action is a struct, whose
// fields are the parameters. Each field has a role, which the field's tags define. The field whose
// yaml tag is the name of the kind is the target: a process, or a message. Any other field has a
// tag "fault" with one of these roles:
//
//	others  the process at the other end, or several
//	manner  how it happens: one of the values of the card's manners
//	size    how large it is: a time, or a rate
//	step    the step in which the client must be

// parameter returns the action's field with a role, or the zero Value if it has none.
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

// fieldsOf maps each role to the index of its field in the parameters of a kind. A search
// needs this map many times for each world, so the card keeps it.
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

// textOf returns the text of a parameter; "" if the parameter does not exist or is no
// string.
func textOf(v reflect.Value) string {
	if v.IsValid() && v.Kind() == reflect.String {
		return v.String()
	}
	return ""
}

// Target returns the name of the process that the fault strikes; "" if the fault strikes a
// message.
func (f Fault) Target() string { return textOf(parameter(f.Action, "target")) }

// parameterAs returns the value of a parameter. ok is false if the parameter does not
// exist, or its type is not T.
func parameterAs[T any](v reflect.Value) (value T, ok bool) {
	if v.IsValid() {
		value, ok = v.Interface().(T)
	}
	return value, ok
}

// Message returns the message that the fault waits for. It returns false if the fault waits
// for no message.
func (f Fault) Message() (trace.NthMessage, bool) {
	return parameterAs[trace.NthMessage](parameter(f.Action, "target"))
}

// Others returns the processes at the other end of a partition, a reset or a delay; nil for
// any other fault.
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

// Targets returns the names of the processes on which the fault acts, in groups: the
// target, and the others. The fault can have an effect if at least one process of each
// group takes part in the run.
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

// Step returns the step in which the client must be; "" means the kind's default, or that
// the kind has no such parameter.
func (f Fault) Step() trace.Step { return trace.Step(textOf(parameter(f.Action, "step"))) }

// How returns the value of the parameter that selects the manner; "" means the common
// manner.
func (f Fault) How() string { return textOf(parameter(f.Action, "manner")) }

// mannerValue returns the Value of the fault's [Manner].
func (f Fault) mannerValue() string {
	if size := parameter(f.Action, "size"); size.IsValid() && size.Int() < 0 {
		return faultcard.Negative
	}
	return f.How()
}

// By returns the fault's size if the size is a time: how far a clock is set, or how much longer a
// message takes; otherwise 0. How long the fault lasts is its For.
func (f Fault) By() time.Duration {
	by, _ := parameterAs[time.Duration](parameter(f.Action, "size"))
	return by
}

// Rate returns the fault's size if the size is the rate of a clock; otherwise 0.
func (f Fault) Rate() Rate {
	rate, _ := parameterAs[Rate](parameter(f.Action, "size"))
	return rate
}

// A Size is how large a fault is, without a sign: a time, or the rate of a clock. The zero
// Size means that the fault has no size.
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

// Less reports whether a size is smaller than another size of the same unit.
func (s Size) Less(o Size) bool { return s.Time < o.Time || s.Rate < o.Rate }

// Size returns how large the fault is: its size parameter without the sign. If the fault
// has no such parameter, its size is how long it lasts.
func (f Fault) Size() Size {
	switch {
	case f.By() != 0:
		return Size{Time: f.By().Abs()}
	case f.Rate() != 0:
		return Size{Rate: f.Rate().abs()}
	}
	return Size{Time: f.For}
}

// WithSize returns the fault with a new size of the same unit. The sign stays. If the fault
// has a size that is a time and also lasts for a time, both are set to the new size.
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

// with returns the fault with a new value for the parameter with a role. The original fault
// does not change.
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

// WithNames returns the fault with all its processes renamed by name, including those in
// its trigger and its end.
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

// Parts describes a fault without its trigger and its end, in one type for all kinds.
// Documents and searches use it. Which fields are set depends on the kind.
type Parts struct {
	// Kind is the name of the kind of fault.
	Kind string `json:"kind"`
	// Target is the process that the fault strikes, or the message that it holds back.
	Target string `json:"target"`
	// Others are the processes at the other end.
	Others []string `json:"others,omitempty"`
	// How is the value of the parameter that selects the manner; "" means the common manner.
	How string `json:"how,omitempty"`
	// Step is the step in which a client must be.
	Step trace.Step `json:"step,omitempty"`
	// By is the size if it is a time: how far a clock is set, or how much longer a message
	// takes. Rate is the size if it is the rate of a clock.
	By   time.Duration `json:"by,omitempty"`
	Rate Rate          `json:"rate,omitzero"`
}

// Parts returns the parts of the fault.
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

// Fault returns a fault with these parts, which strikes at the start of the run. It returns an
// error if the kind does not exist, or does not have one of the parts. Fault does not check whether
// the values make sense in a world, or whether a size is missing; [Fault.Check] does.
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
		role, words string
		given       bool
		value       reflect.Value
	}{
		{"others", "others", len(p.Others) > 0, reflect.ValueOf(p.Others)},
		{"manner", "how", p.How != "", reflect.ValueOf(p.How)},
		{"step", "step", p.Step != "", reflect.ValueOf(p.Step)},
		{"size", "size", !size.IsZero(), size},
	} {
		has := parameter(f.Action, part.role)
		switch {
		case !part.given && (part.role == "others" && has.IsValid()):
			return f, fmt.Errorf("a %s needs a process at its other end, but others is empty", p.Kind)
		case !part.given:
		case !has.IsValid():
			return f, fmt.Errorf("a %s has no %s", p.Kind, part.words)
		case part.role == "others":
			f = f.WithOthers(p.Others)
		case part.role == "size" && has.Type() != part.value.Type():
			return f, fmt.Errorf("the size of a %s is not a %s", p.Kind, unitOf(part.value))
		default:
			f = f.with(part.role, part.value.Convert(has.Type()))
		}
	}
	return f, nil
}

// unitOf returns the name of a size's unit in an error: "rate" or "time".
func unitOf(size reflect.Value) string {
	if _, rate := size.Interface().(Rate); rate {
		return "rate"
	}
	return "time"
}
