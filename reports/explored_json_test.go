package reports

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/explore"
	"github.com/locksim/locksim/internal/runs"
	"github.com/locksim/locksim/servers/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A written document can be read again. The texts of the scenarios are not part of it.
func TestExploredJSONRoundTrip(t *testing.T) {
	for _, r := range []*explore.Result{fullSearch(), emptySearch(), interruptedSearch()} {
		text := writeExplored(t, "json", r, Options{})
		got, err := ReadExplored([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if again := writeExplored(t, "json", got, Options{}); again != text {
			t.Errorf("the document that was read is written as\n%s\nwant\n%s", again, text)
		}
		for i := range got.Ways {
			want := r.Ways[i]
			want.Text = nil
			if !equalExceptNil(reflect.ValueOf(got.Ways[i]), reflect.ValueOf(want)) {
				t.Errorf("the way that was read is %+v, want %+v", got.Ways[i], want)
			}
		}
	}
	if got := writeExplored(t, "json", fullSearch(), Options{}); strings.Contains(got, "title: a pause") {
		t.Error("the document contains the text of a scenario")
	}
}

// equalExceptNil is like reflect.DeepEqual, but takes nil and an empty list as equal.
func equalExceptNil(a, b reflect.Value) bool {
	if f, ok := a.Interface().(runs.Fault); ok {
		return f.Equal(b.Interface().(runs.Fault))
	}
	if blame, ok := a.Interface().(checks.Blame); ok {
		return blame == b.Interface()
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !equalExceptNil(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equalExceptNil(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// Different results give different documents: every change of a result changes the
// document, and no two changes give the same document.
func TestExploredJSONContainsEveryField(t *testing.T) {
	full := func() *explore.Result {
		r := fullSearch()
		r.Stopped = "interrupted"
		faults := &r.Ways[1].Example.Faults
		*faults = append(*faults, pauseFor(s), runs.Fault{Fault: sim.Fault{Action: &sim.Stall{Client: "client-1", Step: trace.Write}, For: s}})
		return r
	}
	seen := map[string]string{writeExplored(t, "json", full(), Options{}): "the result itself"}
	fields := 0
	for at := 0; ; at++ {
		r := full()
		nth := at
		path, ok := changeNth(reflect.ValueOf(r).Elem(), "Result", &nth)
		if !ok {
			break
		}
		got := writeExplored(t, "json", r, Options{})
		if path == "" { // the text of a scenario, which the document does not contain
			continue
		}
		if other, dup := seen[got]; dup {
			t.Errorf("a change of %s gives the same document as %s", path, other)
		}
		seen[got], fields = path, fields+1
	}
	if fields < 150 {
		t.Errorf("only %d fields were changed, want at least 150", fields)
	}
}

// changeNth changes the nth value in v, counted from 0, and returns the path of the value.
// The path is "" if documents do not contain the value. It decreases nth by the values that
// it passes.
func changeNth(v reflect.Value, path string, nth *int) (string, bool) {
	if v.Type() == reflect.TypeFor[[]byte]() {
		*nth--
		return "", *nth < 0
	}
	switch was := v.Interface().(type) {
	case checks.Blame:
		if *nth--; *nth >= 0 {
			return "", false
		}
		v.Set(reflect.ValueOf(checks.BlameAssumption(append(was.Broken(), trace.AssumeStorageMemory)...)))
		return path, true
	case runs.Fault:
		p := was.Parameters()
		at, ok := changeNth(reflect.ValueOf(&p).Elem(), path, nth)
		if !ok {
			return "", false
		}
		changed, err := p.Fault()
		if err != nil || reflect.DeepEqual(changed.Parameters(), was.Parameters()) {
			return "", true // no fault of this kind has such a value
		}
		v.Set(reflect.ValueOf(changed))
		return at, true
	case trace.Point:
		if *nth--; *nth < 0 {
			v.Set(reflect.ValueOf(trace.At(trace.ClockJumped{Process: "client-9"})))
		}
		return path, *nth < 0
	case trace.StepPoint:
		if *nth--; *nth < 0 {
			v.Set(reflect.ValueOf(trace.StepPoint{Client: "client-9", Step: trace.Mark, Nth: 2}))
		}
		return path, *nth < 0
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if at, ok := changeNth(v.Field(i), path+"."+v.Type().Field(i).Name, nth); ok {
				return at, true
			}
		}
		return "", false
	case reflect.Slice:
		for i := range v.Len() {
			if at, ok := changeNth(v.Index(i), fmt.Sprintf("%s[%d]", path, i), nth); ok {
				return at, true
			}
		}
		if *nth--; *nth >= 0 {
			return "", false
		}
		more := reflect.Zero(v.Type().Elem())
		if more.Type() == reflect.TypeFor[runs.Fault]() {
			more = reflect.ValueOf(pauseFor(s))
		}
		v.Set(reflect.Append(v, more))
		return path + " with one more", true
	}
	if *nth--; *nth >= 0 {
		return "", false
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		if v.Type().Elem() == reflect.TypeFor[sim.Persistence]() {
			v.SetMapIndex(reflect.ValueOf("redis-9"), reflect.ValueOf(redis.Always))
			break
		}
		v.SetMapIndex(reflect.ValueOf("client-9"), reflect.ValueOf(trace.At(trace.Action{Process: "client-1", Verb: trace.HasRead})))
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		panic("no value of kind " + v.Kind().String() + " is known")
	}
	return path, true
}

func TestReadExploredRefuses(t *testing.T) {
	good := writeExplored(t, "json", fullSearch(), Options{})
	search := `{"schema": "locksim/explore/v1", "lock": "mine", "bases": [{"name": "contend"}], "worlds": 3, `
	for name, c := range map[string]struct{ data, says string }{
		"an empty file":        {"", "not a JSON object (unexpected end"},
		"YAML":                 {"title: x", "not a JSON object (invalid character"},
		"a list":               {"[]", "not a JSON object"},
		"two documents":        {good + good, "not a JSON object (invalid character '{' after"},
		"null":                 {"null", `its schema is "" and not "locksim/explore/v1"`},
		"a report on runs":     {`{"schema": "locksim/report/v1"}`, `its schema is "locksim/report/v1" and not "locksim/explore/v1"`},
		"a wrong type":         {search + `"ways": [{"id": 7}]}`, "damaged: json: cannot unmarshal number"},
		"a way without an ID":  {search + `"ways": [{}]}`, "ways[0] has no id"},
		"two ways with one ID": {search + `"ran_on": [{"id": "a"}, {"id": "a"}]}`, `ran_on[1]: the id "a" occurs twice`},
		"a fault without its other end": {
			search + `"ways": [{"id": "a", "example": {"faults": [{"kind": "reset"}]}}]}`,
			"ways[0].example.faults[0]: a reset needs a process at its other end",
		},
		"a danger map with a row without cells": {
			search + `"maps": [{"starts": ["x"], "lengths_ns": [1], "cells": [[]]}]}`,
			"maps[0].cells[0] has 0 cells for 1 lengths",
		},
		"a danger map without rows":                       {search + `"maps": [{"starts": ["x"]}]}`, "maps[0] has 1 starts and 0 rows"},
		"a search without a lock":                         {`{"schema": "locksim/explore/v1"}`, "contains no search: it names no lock"},
		"a search without a workload":                     {`{"schema": "locksim/explore/v1", "lock": "mine", "worlds": 3}`, "contains no search: it names no workload (bases)"},
		"a search without worlds, and no reason for that": {`{"schema": "locksim/explore/v1", "lock": "mine", "bases": [{}]}`, "contains no search: no world was tried"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadExplored([]byte(c.data))
			if err == nil {
				t.Fatalf("the document is read as %+v, want an error", r)
			}
			wantInOrder(t, err.Error(), c.says, "; write one with locksim explore --format json -o FILE")
		})
	}
	// A later version may write more fields. The same way may be in both lists.
	later := search + `"more": 1, "ways": [{"id": "a", "new": {}}], "ran_on": [{"id": "a"}]}`
	if r, err := ReadExplored([]byte(later)); err != nil || len(r.Ways) != 1 || r.Ways[0].ID != "a" {
		t.Errorf("the document of a later version is read as %+v, with the error %v", r, err)
	}
	// A search without worlds is valid if it says why there are none.
	for _, why := range []string{`"stopped": "interrupted", "bases": [{"name": "contend"}]`, `"bases": [{"name": "contend", "doubt": "it never begins"}]`} {
		if _, err := ReadExplored([]byte(`{"schema": "locksim/explore/v1", "lock": "mine", ` + why + `}`)); err != nil {
			t.Errorf("a search without worlds, because of %s: %v", why, err)
		}
	}
}

// The counts in a document add up, also in a document of an older version. The number of
// tried sets is at most the number of all sets.
func TestCountsOfADocumentAddUp(t *testing.T) {
	const (
		older = `{"schema": "locksim/explore/v1", "lock": "mine", "bases": [{}], "worlds": 18100, "levels": [
			{"faults": 1, "space": 36, "tried": 36, "repeats": 6}, {"faults": 2, "space": 322, "tried": 17964}, {"faults": 3, "space": 9000}]}`
		tried = "about 322 of 322 pairs tried in 17,964 worlds"
	)
	results := map[string]*explore.Result{"several": fullSearch(), "nothing": emptySearch(), "stopped": interruptedSearch()}
	var err error
	if results["older"], err = ReadExplored([]byte(older)); err != nil {
		t.Fatal(err)
	}
	if text := writeExplored(t, "text", results["older"], Options{}); !strings.Contains(text, tried) {
		t.Errorf("the report on the older document does not contain %q:\n%s", tried, text)
	}
	for name, r := range results {
		var doc jsonExplored
		if err := json.Unmarshal([]byte(writeExplored(t, "json", r, Options{})), &doc); err != nil {
			t.Fatal(err)
		}
		all, run := doc.Parts, doc.Parts
		for _, l := range doc.Levels {
			all += int(l.Tried)
			run += int(l.Run)
			if l.Run+l.Repeats != l.Tried || l.Tried-l.Again+l.Untried != l.Space {
				t.Errorf("%s: the counts of the level %+v do not add up", name, l)
			}
		}
		if all != doc.Worlds || run != doc.Run {
			t.Errorf("%s: the search has %d worlds, %d of which were run, but the sums of levels and parts are %d and %d", name, doc.Worlds, doc.Run, all, run)
		}
	}
}
