package trace_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// The events in the runs of the catalogue's scenarios have the fields that the forms list,
// and each listed field occurs. The exceptions are the fields in notInCatalogue, and those
// that occur only in scenarios with a library.
func TestFormsMatchEventsOfTheCatalogue(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the catalogue")
	}
	seen := map[string]bool{}
	for _, s := range suites.RunnableScenarios() {
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
				t.Errorf("%s: seen in the catalogue %v, listed in notInCatalogue %v; want one of the two", place, seen[place], never)
			}
		}
	}
}

// notInCatalogue lists kinds and fields that occur only in worlds that are not in the
// catalogue.
var notInCatalogue = []string{
	"hold reply", "cancel", "cancel process", "cancel section", "cancel step", // in scenarios about libraries
	"ran-on", "ran-on process", "ran-on text", // with a lock that sleeps outside the simulator's control
	"fail", "fail process", "fail text", "recover", "recover process",
	"hold handshake", "check text",
	"drop", "drop process", "drop key", "drop value", "drop owner", // with locks that last as long as a connection; their clients are libraries
	"begin context_over",     // only in programs of package locktest
	"begin leaves",           // with a lock on PostgreSQL that also keeps the data
	"end mistyped",           // with locks of users
	"restore by",             // with an advisory lock in a session that several clients share
	"expire by",              // on Kubernetes, and on PostgreSQL with the clients' clocks
	"set ends", "touch ends", // on Kubernetes, and on PostgreSQL with the clients' clocks
	"revert version", "revert value", "forget-token object", // with a storage that keeps some of its versions, and with one that has shards
}

// clusterFields are the fields that occur only in worlds with clusters. The clients of
// clusters are libraries, so the tests of those libraries check these fields.
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

// The forms list only fields that an Event has, and each field of an Event is in a form.
func TestKinds(t *testing.T) {
	names := map[string]bool{}
	of := reflect.TypeFor[trace.Event]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names[name] = false
	}
	for _, every := range []string{"seq", "at", "kind", "earliest"} {
		names[every] = true
	}
	kinds := map[trace.Kind]bool{}
	for _, form := range trace.Kinds() {
		if kinds[form.Kind] || form.Meaning == "" || form.Subject == "" {
			t.Errorf("%s has two forms, or no meaning, or no subject", form.Kind)
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
