package explore

import (
	"reflect"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
)

// Outcomes that differ in anything but their grounds are two.
func TestIntern(t *testing.T) {
	broken := func(b Break) Outcome { return Outcome{On: Run{Breaks: []Break{b}}} }
	all := []Outcome{
		{}, broken(Break{What: "panic"}), broken(Break{What: "panic", Why: "it did"}),
		broken(Break{What: "panic", Fault: checks.FaultLock}), {On: Run{Breaks: []Break{{What: "panic"}, {What: "hang"}}}},
	}
	run := reflect.TypeFor[Run]()
	for i := range run.NumField() {
		for _, o := range []*Outcome{{}, {}} {
			field := reflect.ValueOf(&o.Off).Elem().Field(i)
			switch {
			case field.CanInt():
				field.SetInt(1)
			case field.CanUint():
				field.SetUint(1)
			case field.Kind() == reflect.Bool:
				field.SetBool(true)
			case field.Kind() == reflect.String:
				field.SetString("so")
			default:
				continue // breaks, as above
			}
			all = append(all, *o)
			o.On, o.Off = o.Off, Run{}
			all = append(all, *o)
		}
	}
	n := newInterner()
	for _, a := range all {
		for _, b := range all {
			if one := n.intern(a) == n.intern(b); one != reflect.DeepEqual(a, b) {
				t.Errorf("%+v and %+v are one: %t", a, b, one)
			}
		}
	}
	if n.intern(Outcome{Grounds: runs.Grounds{Sound: true}}) != n.intern(Outcome{}) {
		t.Error("two outcomes that differ in their grounds are two")
	}
}
