package reports_test

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/testkit/suites"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// An op is one entry of a history, as a checker of Jepsen reads it. kind is its :type, such as
// :invoke or :ok, and f is the function that the process calls, such as :acquire.
type op struct {
	index, time, process int
	kind, f              string
	value                any
}

// readHistory parses a document in EDN. It does not use the code that writes such
// documents.
func readHistory(t *testing.T, document string) []op {
	t.Helper()
	r := &ednReader{t: t, rest: document}
	forms := r.valuesUntil("")
	if len(forms) != 1 {
		t.Fatalf("a document has %d values, want one history:\n%s", len(forms), document)
	}
	var history []op
	for _, form := range forms[0].([]any) {
		m := form.(map[string]any)
		for _, key := range []string{":index", ":time", ":process", ":type", ":f", ":value"} {
			if _, ok := m[key]; !ok {
				t.Fatalf("an operation of the history has no %s: %v", key, m)
			}
		}
		history = append(history, op{m[":index"].(int), m[":time"].(int), m[":process"].(int), m[":type"].(string), m[":f"].(string), m[":value"]})
	}
	return history
}

// ednReader parses EDN. It returns keywords as strings that begin with a colon, and texts
// as strings in quotes.
type ednReader struct {
	t    *testing.T
	rest string
}

// valuesUntil parses values up to a closing bracket, or up to the end of the document if
// closing is "".
func (r *ednReader) valuesUntil(closing string) []any {
	var values []any
	for {
		r.rest = strings.TrimLeft(r.rest, " \n\r\t,")
		switch {
		case r.rest == "" && closing == "":
			return values
		case r.rest == "":
			r.t.Fatalf("the document ends before %q", closing)
		case closing != "" && strings.HasPrefix(r.rest, closing):
			r.rest = r.rest[1:]
			return values
		case r.rest[0] == ';':
			_, r.rest, _ = strings.Cut(r.rest, "\n")
		default:
			values = append(values, r.value())
		}
	}
}

// value parses one value.
func (r *ednReader) value() any {
	switch first := r.rest[0]; first {
	case '[':
		r.rest = r.rest[1:]
		return append([]any{}, r.valuesUntil("]")...)
	case '{':
		r.rest = r.rest[1:]
		fields, m := r.valuesUntil("}"), map[string]any{}
		for i := 0; i+1 < len(fields); i += 2 {
			m[fields[i].(string)] = fields[i+1]
		}
		return m
	case '"':
		quoted, err := strconv.QuotedPrefix(r.rest)
		if err != nil {
			r.t.Fatalf("this is not a string of EDN: %.40s", r.rest)
		}
		r.rest = r.rest[len(quoted):]
		return quoted
	}
	end := strings.IndexAny(r.rest, " \n,]}")
	word := r.rest[:end]
	r.rest = r.rest[end:]
	if word == "nil" {
		return nil
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(word, "N")); err == nil || word[0] != ':' {
		return n
	}
	return word
}

// isExplained reports whether a model explains a history, according to the checker
// porcupine. apply returns the state after an operation, and whether the operation is
// possible. A failed operation did not happen. An operation with an unknown outcome may
// happen at any time after its invocation, or never.
func isExplained(history []op, initial any, apply func(state any, o op) (any, bool)) bool {
	type input struct {
		op
		maybe bool
	}
	var operations []porcupine.Operation
	invoked := map[int]op{}
	for _, o := range history {
		if o.kind == ":invoke" {
			invoked[o.process] = o
			continue
		}
		call := invoked[o.process]
		delete(invoked, o.process)
		switch o.kind {
		case ":ok":
			operations = append(operations, porcupine.Operation{ClientId: o.process, Input: input{o, false}, Call: int64(call.index), Return: int64(o.index)})
		case ":info":
			operations = append(operations, porcupine.Operation{ClientId: o.process, Input: input{call, true}, Call: int64(call.index), Return: math.MaxInt64})
		}
	}
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{initial} },
		Step: func(state, in, _ any) []any {
			var next []any
			if after, ok := apply(state, in.(input).op); ok {
				next = append(next, after)
			}
			if in.(input).maybe {
				next = append(next, state)
			}
			return next
		},
		Equal: func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) },
	}
	return porcupine.CheckOperations(model.ToModel(), operations)
}

// mutex is the model of a mutex in Jepsen's checker Knossos.
func mutex(state any, o op) (any, bool) {
	locked := o.f == ":acquire"
	return locked, state.(bool) != locked
}

// register is the model of a register that holds the value of the last write.
func register(state any, o op) (any, bool) {
	if o.f == ":write" {
		return o.value, true
	}
	return state, state == o.value
}

// transactions is the model of transactions that read and write registers atomically.
func transactions(state any, o op) (any, bool) {
	objects := maps.Clone(state.(map[string]any))
	for _, item := range o.value.([]any) {
		access := item.([]any)
		object := access[1].(string)
		if access[0] == ":r" && objects[object] != access[2] {
			return nil, false
		}
		objects[object] = access[2]
	}
	return objects, true
}

// modelExplains reports whether the model for its kind explains a history.
func modelExplains(kind string, history []op) bool {
	switch kind {
	case "lock":
		return isExplained(history, false, mutex)
	case "register":
		return isExplained(history, nil, register)
	}
	return isExplained(history, map[string]any{}, transactions)
}

// checkWellFormed fails the test if a history breaks a rule of Jepsen's histories.
func checkWellFormed(t *testing.T, name string, history []op) {
	t.Helper()
	// open has the operation that each process has invoked and not completed. ended has the
	// processes that must not continue.
	open, ended := map[int]op{}, map[int]bool{}
	for i, o := range history {
		if o.index != i || i > 0 && o.time < history[i-1].time {
			t.Errorf("%s: operation %d has index %d and time %d", name, i, o.index, o.time)
		}
		if ended[o.process] {
			t.Errorf("%s: process %d continues at %d, after an operation with an unknown outcome", name, o.process, i)
		}
		call, isOpen := open[o.process]
		switch o.kind {
		case ":invoke":
			if isOpen {
				t.Errorf("%s: process %d invokes at %d before %d has completed", name, o.process, i, call.index)
			}
			open[o.process] = o
		case ":ok", ":fail", ":info":
			if !isOpen || call.f != o.f {
				t.Errorf("%s: process %d completes %s at %d, but had invoked %q", name, o.process, o.f, i, call.f)
			}
			delete(open, o.process)
			ended[o.process] = o.kind == ":info"
		default:
			t.Errorf("%s: operation %d is of the type %s", name, i, o.kind)
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: %d operations never complete", name, len(open))
	}
}

// A checker that knows only the histories comes to the same results as locksim's checks. A
// mutex explains the operations on the lock if, and only if, no two sections overlapped.
// Serial transactions explain the sections if, and only if, the property serial-sections
// holds. A register explains each object, unless the storage executed a request twice or
// lost one. A property of a run covers all its locks, so one of several locks may be
// correct although the run violates the property.
func TestHistoriesAgreeWithChecks(t *testing.T) {
	edn, _ := reports.Runs.Lookup("edn")
	seen := map[string]int{}
	results, err := suites.Results()
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		for _, run := range result.Runs {
			one := *result
			one.Runs = []scenarios.RunResult{run}
			all := map[string]bool{}
			for _, page := range edn.Pages([]*scenarios.Result{&one}, reports.Options{}) {
				history := readHistory(t, string(page.Data))
				checkWellFormed(t, page.Name, history)
				kind := historyKind.FindStringSubmatch(page.Name)[1]
				legal := modelExplains(kind, history)
				before, more := all[kind]
				all[kind] = legal && (before || !more)
				seen[fmt.Sprintf("%s %v", kind, legal)]++
			}
			for kind, legal := range all {
				found := checks.Unknown
				switch kind {
				case "lock":
					found = run.Verdict.Finding(checks.SectionExclusion).Outcome
				case "sections":
					found = run.Verdict.Finding(checks.SerialSections).Outcome
				case "register":
					if !executedTwiceOrLost(run.History.Trace) {
						found = checks.Holds
					}
				}
				if found == checks.Holds && !legal || found == checks.Violated && legal {
					t.Errorf("%s, %s, fencing %s: the model explains each history of the kind %s: %v, but the finding of the checks is %s", result.Scenario.Name, run.Variant.Name, run.Fencing, kind, legal, found)
				}
			}
		}
	}
	for _, want := range []string{"lock true", "lock false", "sections true", "sections false", "register true", "register false"} {
		if seen[want] == 0 {
			t.Errorf("no history in the catalogue has this kind and this answer of the model: %s", want)
		}
	}
}

var historyKind = regexp.MustCompile(`-(lock|register|sections)(-[0-9]+)?\.edn$`)

// executedTwiceOrLost reports whether the storage executed a request twice or lost one.
func executedTwiceOrLost(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Events, func(ev trace.Event) bool { return ev.Kind == trace.KindAgain || ev.Kind == trace.KindRevert })
}

// In gc-pause, without fencing the models explain neither the operations on the lock nor
// the sections. With fencing they explain the sections.
func TestHistoriesOfGCPause(t *testing.T) {
	for _, test := range []struct {
		scenario, fencing, history string
		legal                      bool // whether the model explains the history
	}{
		{"gc-pause", scenarios.Off, "lock", false},
		{"gc-pause", scenarios.Off, "register", true},
		{"gc-pause", scenarios.Off, "sections", false},
		{"gc-pause", scenarios.On, "lock", false},
		{"gc-pause", scenarios.On, "register", true},
		{"gc-pause", scenarios.On, "sections", true},
		{"no-faults", scenarios.Off, "lock", true},
		{"no-faults", scenarios.Off, "sections", true},
	} {
		file := fmt.Sprintf("%s-fencing-%s-%s.edn", test.scenario, test.fencing, test.history)
		page, ok := pagesOf(t, test.scenario)[file]
		if !ok {
			t.Fatalf("there is no file %s", file)
		}
		if got := modelExplains(test.history, readHistory(t, page)); got != test.legal {
			t.Errorf("%s: the model explains the history: %v, want %v\n%s", file, got, test.legal, page)
		}
	}
}

// pagesOf returns the files about the results of a built-in scenario.
func pagesOf(t *testing.T, scenario string) map[string]string {
	t.Helper()
	edn, _ := reports.Runs.Lookup("edn")
	pages := map[string]string{}
	for _, page := range edn.Pages([]*scenarios.Result{runScenario(t, scenario)}, reports.Options{}) {
		pages[page.Name] = string(page.Data)
	}
	return pages
}
