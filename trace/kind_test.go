package trace_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/roof"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// The events of the catalogue's scenarios have exactly the fields that the forms list. The
// exceptions are the fields in notInCatalogue and those of scenarios that need a library.
func TestKindsAreWhatWorldsWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the catalogue")
	}
	seen := map[string]bool{}
	for _, s := range roof.Playable() {
		r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range r.Runs {
			if err := run.History.Trace.Validate(); err != nil {
				t.Errorf("%s %s, fencing %s: %v", s.Name, run.Variant.Name, run.Fencing, err)
			}
			for i := range run.History.Trace.Events {
				recordFields(seen, &run.History.Trace.Events[i])
			}
		}
	}
	for _, form := range trace.Kinds() {
		for _, name := range slices.Concat([]string{""}, form.Required, form.Optional) {
			if form.Subject == trace.SubjectSessions || slices.Contains(clusterFields, name) {
				continue
			}
			place := strings.TrimSuffix(string(form.Kind)+" "+name, " ")
			if never := slices.Contains(notInCatalogue, place); seen[place] == never {
				t.Errorf("%s: seen in the catalogue %v, and on the list of what is not %v", place, seen[place], never)
			}
		}
	}
}

// notInCatalogue lists kinds and fields that no scenario of the catalogue produces, and
// that other worlds do.
var notInCatalogue = []string{
	"hold reply", "cancel", "cancel process", "cancel section", "cancel step", // scenarios of libraries
	"ran-on", "ran-on process", "ran-on text", // a lock that sleeps in C, or in a loop
	"fail", "fail process", "fail text", "recover", "recover process",
	"hold handshake", "check text",
	"drop", "drop process", "drop key", "drop value", "drop owner", // locks on connections, whose clients are libraries
	"begin context_over",     // only in programs of locktest
	"begin leaves",           // a lock on PostgreSQL that keeps the data as well
	"restore by",             // an advisory lock whose session is shared by several clients
	"expire by",              // on Kubernetes, and on PostgreSQL by the clients' clocks
	"set ends", "touch ends", // also on Kubernetes and PostgreSQL
	"revert version", "revert value", "forget-token object", // a storage that keeps some of its versions, and a storage with shards
}

// clusterFields are the fields that only worlds with clusters write. Their clients are
// libraries, so the tests of those libraries check these fields.
var clusterFields = []string{"keep_alive", "bytes", "session"}

// recordFields adds the kind of an event and its fields to seen.
func recordFields(seen map[string]bool, ev *trace.Event) {
	seen[string(ev.Kind)] = true
	v := reflect.ValueOf(ev).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if !v.Field(i).IsZero() {
			seen[string(ev.Kind)+" "+name] = true
		}
	}
}

// The forms list only fields that events have, and every field is in some form.
func TestKinds(t *testing.T) {
	names := map[string]bool{}
	of := reflect.TypeFor[trace.Event]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names[name] = false
	}
	for _, every := range []string{"seq", "at", "kind"} {
		names[every] = true
	}
	kinds := map[trace.Kind]bool{}
	for _, form := range trace.Kinds() {
		if kinds[form.Kind] || form.Meaning == "" || form.Subject == "" {
			t.Errorf("%s is there twice, or does not say what it means", form.Kind)
		}
		kinds[form.Kind] = true
		for _, name := range slices.Concat(form.Required, form.Optional) {
			if _, known := names[name]; !known {
				t.Errorf("%s: no event has a field %s", form.Kind, name)
			}
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] {
			t.Errorf("no kind of event has the field %s", name)
		}
	}
}
