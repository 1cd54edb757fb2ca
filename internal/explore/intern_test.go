package explore

import (
	"reflect"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/runs"
)

// Results are the same only if they differ in nothing but their grounds.
func TestIntern(t *testing.T) {
	broken := func(b runs.Break) runs.WorldResult {
		return runs.WorldResult{On: runs.RunResult{Breaks: []runs.Break{b}}}
	}
	all := []runs.WorldResult{
		{}, broken(runs.Break{What: "panic"}), broken(runs.Break{What: "panic", Why: "it did"}),
		broken(runs.Break{What: "panic", Blame: checks.BlameLock}), {On: runs.RunResult{Breaks: []runs.Break{{What: "panic"}, {What: "hang"}}}},
	}
	run := reflect.TypeFor[runs.RunResult]()
	for i := range run.NumField() {
		for _, o := range []*runs.WorldResult{{}, {}} {
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
				continue // the list of breaks has been changed above
			}
			all = append(all, *o)
			o.On, o.Off = o.Off, runs.RunResult{}
			all = append(all, *o)
		}
	}
	n := newInterner()
	for _, a := range all {
		for _, b := range all {
			if one := n.intern(a) == n.intern(b); one != reflect.DeepEqual(a, b) {
				t.Errorf("%+v and %+v are interned as one result: %t, want %t", a, b, one, !one)
			}
		}
	}
	if n.intern(runs.WorldResult{Grounds: runs.Grounds{Sound: true}}) != n.intern(runs.WorldResult{}) {
		t.Error("two results that differ only in their grounds are interned as two, want one")
	}
}
