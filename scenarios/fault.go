package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A fault is an item of the list of faults: a kind of fault with its parameters, when it
// strikes and when it ends.
type fault struct {
	timing
	kind   sim.FaultKind
	action sim.Action
	text   string
}

// A timing is when a fault strikes and when it ends. At most one of At, Before, After and
// When is set; without them the fault strikes at the start of the run. At most one of Until
// and For is set.
type timing struct {
	At     *delay          `yaml:"at" jsonschema_description:"Strikes this long after the start of the run."`
	Before trace.StepPoint `yaml:"before" jsonschema_description:"Strikes just before a client's step begins, as in: client-1 write."`
	After  stepOrPoint     `yaml:"after" jsonschema_description:"Strikes when a client's step has ended, as in client-1 write, or at a point."`
	When   trace.Point     `yaml:"when" jsonschema_description:"Strikes at a point."`
	Until  trace.Point     `yaml:"until" jsonschema_description:"Ends at a point. A fault without an end lasts until the end of the run."`
	For    span            `yaml:"for" jsonschema_description:"Ends this long after it strikes."`
	// ByClockOf can be given only together with For.
	ByClockOf string `yaml:"by-clock-of" jsonschema:"minLength=1" jsonschema_description:"The process whose wall clock measures the time given by for. Default: true time."`
}

// triggers are the fields of which one says when a fault strikes.
var triggers = []string{"at", "before", "after", "when"}

// decode reads the fault from a mapping. Exactly one key of the mapping must be the name of
// a kind of fault.
func (f *fault) decode(d *decoder, n *yaml.Node, path string) {
	if n.Kind != yaml.MappingNode {
		d.reportWrongType(n, "a fault: a mapping")
		return
	}
	var kinds []sim.FaultKind
	var kindNames []string
	for _, kind := range sim.FaultKinds() {
		kindNames = append(kindNames, kind.Name)
		if indexOf(n, kind.Name) >= 0 {
			kinds = append(kinds, kind)
		}
	}
	switch len(kinds) {
	case 0:
		d.report(n, "", "no fault is named here", suggestKind(n, kindNames))
		return
	case 1:
	default:
		d.report(n, "", "%q and %q are two faults", "make them two items of the list", kinds[0].Name, kinds[1].Name)
		return
	}
	foundBefore := d.found
	f.kind, f.action = kinds[0], kinds[0].New()
	d.decodeStructs(n, path, reflect.ValueOf(&f.timing).Elem(), reflect.ValueOf(f.action).Elem())
	f.text = describeFault(n, f.kind.Name)
	if d.found > foundBefore {
		f.action = nil // a later check must not complain about what was not read
	}
	f.checkTiming(d, n)
}

// checkTiming reports fields that contradict each other about when the fault strikes and
// ends.
func (f *fault) checkTiming(d *decoder, n *yaml.Node) {
	var given []string
	for _, t := range triggers {
		if indexOf(n, t) >= 0 {
			given = append(given, t)
		}
	}
	if len(given) > 1 {
		d.report(n, "", "%q and %q both say when it strikes", "keep one of them", given[0], given[1])
	}
	hasUntil, hasDuration := indexOf(n, "until") >= 0, indexOf(n, "for") >= 0
	switch {
	case hasUntil && hasDuration:
		d.report(n, "", `"until" and "for" both say when it ends`, "keep one of them")
	case indexOf(n, "by-clock-of") >= 0 && !hasDuration:
		d.report(n, "", `"by-clock-of" measures the time after "for", and there is none`, `add "for", or leave it out`)
	case f.kind.Instant && (hasUntil || hasDuration):
		d.report(n, "", "a %s happens in an instant, so it has no end", `leave "until" and "for" out`, f.kind.Name)
	}
}

// suggestKind returns a hint for a fault that names no known kind.
func suggestKind(n *yaml.Node, kinds []string) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if near := nearest(key, kinds); near != "" && !slices.Contains(timingFields(), key) {
			return DidYouMean(key, kinds)
		}
	}
	return DidYouMean("", kinds)
}

// timingFields are all fields that are about time, and not parameters of the kind.
func timingFields() []string { return append(slices.Clone(triggers), "until", "for", "by-clock-of") }

// toSim returns the fault as the simulator needs it.
func (f fault) toSim() sim.Fault {
	out := sim.Fault{
		Strikes:   trace.Trigger{Before: f.Before, When: f.When},
		Until:     f.Until,
		For:       time.Duration(f.For),
		ByClockOf: f.ByClockOf,
		Action:    f.action,
		Text:      f.text,
	}
	if f.At != nil {
		out.Strikes.At = time.Duration(*f.At)
	}
	if !f.After.IsZero() {
		out.Strikes.When = f.After.Point
	}
	return out
}

// describeFault returns the fault as text: its kind and its target, then its other
// parameters, in the order of the file.
func describeFault(n *yaml.Node, kind string) string {
	var action, parameters string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		words := fmt.Sprintf("%s %s", key, nodeText(value))
		switch {
		case key == kind:
			action = words
		case !slices.Contains(timingFields(), key):
			parameters += ", " + words
		}
	}
	return oneLine(action + parameters)
}

// nodeText returns a YAML value as text; a list is joined by "and".
func nodeText(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var words []string
	for _, item := range n.Content {
		words = append(words, item.Value)
	}
	return strings.Join(words, " and ")
}
