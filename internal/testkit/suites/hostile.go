package suites

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Taint is text that would do harm in a program that treats it as more than text: in a
// page, in XML, in a table, in a template, on a terminal, or in the log of a continuous
// integration.
const Taint = `<script>alert(1)</script>"><img onerror=alert(2)>]]>--></svg>` +
	"`|**_~\\|[x](javascript:alert(3)) ${x} {{.}} %%{init}%% #60; ;'\"" +
	" ~~gone~~ ~gone~ @octocat a@b.example #1 GH-2 $a$ &copy; &#64; https://b.example www.b.example :tada: ](/x) ﬂ°°60¶ß" +
	"\a\x1b[31m\x00\u009b\u202e\u2066\u200b\u2028\xff\xed\xa0\x80\r\n" +
	"::error file=x::taken over\n```\nend\n| a | b |\n# heading\n--- \n"

// LongWord is wider than every place in which a report can show it.
var LongWord = strings.Repeat("w", 5000)

// TaintedResult returns the result of a scenario in which Taint is appended to every text
// that a file or a trace can hold. Its verdicts are those of the tainted traces.
func TaintedResult(t *testing.T) *scenarios.Result {
	t.Helper()
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	v := *r.Runs[0].Variant
	for _, narrative := range []*scenarios.Narrative{&s.Narrative, &v.Narrative} {
		taintAll(reflect.ValueOf(narrative).Elem())
	}
	for _, text := range []*string{&s.Name, &s.File, &s.Title, &s.Group, &s.Source, &v.Scenario, &v.Name, &v.Title} {
		*text += Taint
	}
	s.Title += LongWord
	s.Variants = []*scenarios.Variant{&v}
	for i := range r.Runs {
		run := &r.Runs[i]
		fencing := run.History.Trace.Fencing
		taintAll(reflect.ValueOf(run.History.Trace).Elem())
		run.History.Trace.Fencing = fencing
		run.History.Trace.Doubts = []string{Taint}
		run.History = history.New(run.History.Trace) // the history was made before the trace was tainted
		run.Variant, run.Verdict = &v, checks.Check(run.History, v.Witnesses)
		run.Verdict.Torn = []checks.TornSection{{Client: Taint, Section: 1, Reason: checks.InDoubt.Reason(Taint)}}
		run.Verdict.Witnesses = append(run.Verdict.Witnesses, checks.WitnessResult{Text: Taint})
		run.Differences = []checks.Reason{checks.InDoubt.Reason(Taint), checks.InDoubt.Reason(Taint)}
		run.Measures = nil
	}
	return r
}

// taintAll appends Taint to every string in a value. It leaves out words of a fixed
// vocabulary, such as the kind of an event, which have types of their own.
func taintAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.Len() > 0 {
			v.SetString(v.String() + Taint)
		}
	case reflect.Slice:
		for i := range v.Len() {
			taintAll(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			taintAll(v.Field(i))
		}
	case reflect.Pointer:
		if actor, is := v.Interface().(*trace.Actor); is && actor != nil {
			if !strings.HasSuffix(actor.Client, Taint) { // events share their actors
				actor.Client += Taint
			}
		}
	}
}

// crowdedScenario is too large to be drawn in full: fifty clients want one lock, seven
// times each. One of them is paused past the end of its lease.
const crowdedScenario = `title: Fifty clients want one lock, and one of them oversleeps
assumption: process
lock: {kind: single, ttl: 2s}
clients:
%sfaults:
  - before: client-25 write
    pause: client-25
    for: 3s
`

// runCrowd runs the crowded scenario once for all callers.
var runCrowd = sync.OnceValues(func() (*scenarios.Result, error) {
	var clients strings.Builder
	for i := range 50 {
		fmt.Fprintf(&clients, "  client-%d: {sections: 7, works: 40ms, retry-every: 350ms, retry: jitter}\n", i+1)
	}
	s, err := scenarios.Parse("crowd.yaml", fmt.Appendf(nil, crowdedScenario, clients.String()))
	if err != nil {
		return nil, err
	}
	return scenarios.Run(s, scenarios.RunOptions{Seed: 1})
})

// CrowdedResult returns a result with some 20,000 events in each of its two runs. Callers
// share it and must not change it.
func CrowdedResult(t testing.TB) *scenarios.Result {
	t.Helper()
	r, err := runCrowd()
	if err != nil {
		t.Fatal(err)
	}
	return r
}
