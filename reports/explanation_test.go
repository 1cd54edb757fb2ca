package reports

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// writeExplanation runs a scenario and returns its explanation in one of the formats. If
// change is not nil, it changes the result before that.
func writeExplanation(t *testing.T, format, text string, change func(*scenarios.Result)) string {
	t.Helper()
	s, err := scenarios.Parse("late.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	for _, f := range Explanations.Formats() {
		if f.Name == format {
			var b bytes.Buffer
			if err := f.Write(&b, []*scenarios.Result{r}, Options{}); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
	}
	t.Fatalf("no format %q", format)
	return ""
}

// late is a scenario in which the work of client-1 outlasts its lease. It has all texts.
const late = `
title: The work takes too long
source: my own life
assumption: process
story: Somebody works for too long.
question: What can go wrong?
why: the work outlasts the lease
prevention: A fencing token.
says: {kleppmann: Use tokens., sanfilippo: Look at the clock., redis: Use both.}
lesson: Leases end.
lock: {kind: single, ttl: 10s}
clients:
  client-1: {works-until: client-2 released}
  client-2: {starts: client-1's keys expired}
witnesses: [client-1's keys expired before client-1 worked]
`

func TestExplanation(t *testing.T) {
	got := writeExplanation(t, "text", late, nil)
	wantInOrder(t, got,
		"late: The work takes too long\n\nThe setting\n\n  lock      single on 1 node, TTL 10s\n",
		"  client-2  starts when client-1's keys expired\n",
		"  faults    none\n",
		"\nThe question\n\n  What can go wrong?\n",
		"\nWhat happened\n\n  Somebody works for too long.\n\n",
		"▸ witness: client-1's keys expired before client-1 worked\n",
		"\n  without fencing\n",
		"✗ violates grant-order, write-order",
		"\n  with fencing\n",
		"\nWhat broke\n\n  assumption       process: every process keeps running",
		"\n  in short         the work outlasts the lease\n",
		"  without fencing  unsafe. client-1's write of x at ",
		"\n  with fencing     safe. The storage refused client-1's write",
		"\n  the lock         client-2 entered its critical section",
		"\nWhat would have prevented it\n\n  A fencing token.\n",
		"\nWhat each side says\n\n  Kleppmann   Use tokens.\n  Sanfilippo  Look at the clock.\n  redis.io    Use both.\n",
		"\nThe lesson\n\n  Leases end.\n",
		"\nSource\n\n  my own life\n",
		"\nreplay: locksim explain late.yaml --seed 1\n",
	)
	for line := range strings.Lines(got) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > pageWidth {
			t.Errorf("a line is %d columns wide: %s", n, line)
		}
		if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
			t.Errorf("a line ends with spaces: %q", line)
		}
	}
}

func TestExplanationAsMarkdown(t *testing.T) {
	wantInOrder(t, writeExplanation(t, "markdown", late, nil),
		"# late: The work takes too long\n\n## The setting\n\n- **lock**: single on 1 node, TTL 10s\n",
		"\n## What happened\n\nSomebody works for too long.\n\n```text\n   0.001s  client-1  gets",
		"\n```\n\n## What broke\n\n- **assumption**: process",
		"\n- **Sanfilippo**: Look at the clock.\n",
		"\nReplay: `locksim explain late.yaml --seed 1`\n",
	)
}

// A field that a scenario leaves out has no heading.
func TestExplanationLeavesOutMissingFields(t *testing.T) {
	_, bare, _ := strings.Cut(late, "lock: {")
	got := writeExplanation(t, "text", "title: The work takes too long\nlock: {"+bare, nil)
	for _, heading := range []string{"question", "prevented", "side", "lesson", "Source", "assumption", "in short"} {
		if strings.Contains(got, heading) {
			t.Errorf("the explanation mentions %q, which the scenario leaves out:\n%s", heading, got)
		}
	}
	wantInOrder(t, got, "\nThe setting\n", "\nWhat happened\n\n   0.001s  client-1  gets", "\nWhat broke\n\n  without fencing  unsafe", "\nreplay:")
}

func TestExplanationOfOneRun(t *testing.T) {
	got := writeExplanation(t, "text", late, func(r *scenarios.Result) { r.Runs = r.Runs[1:] })
	wantInOrder(t, got, "\n  the data    safe. The storage refused", "\nreplay: locksim explain late.yaml --seed 1 --fencing on\n")
	if strings.Contains(got, "without fencing") {
		t.Errorf("the explanation mentions the run without fencing:\n%s", got)
	}
}

// lateOrNot is the scenario late with two variants. In the second, the work ends in time.
const lateOrNot = late + `
variants:
  late: {}
  in-time:
    title: The work is done in time
    story: Nobody works for too long.
    prevention: Being quick.
    clients:
      client-1: {works: 1s}
      client-2: {starts: client-1 released}
    witnesses: [client-1 wrote]
`

// What all variants have in common appears once.
func TestExplanationOfVariants(t *testing.T) {
	text := strings.Replace(lateOrNot, "lock: {kind", "measures: [lock-commands]\nlock: {kind", 1)
	text = strings.Replace(text, "{works-until: client-2 released}", "{works: 20s}", 1)
	got := writeExplanation(t, "text", text, nil)
	wantInOrder(t, got,
		"late: The work takes too long\n\nThe setting\n\n  lock     single on 1 node, TTL 10s\n",
		"\nThe question\n",
		"\n── variant 1 of 2, late: The work takes too long\n\nThe setting of this variant\n\n  client-1  starts immediately, works for 20s\n",
		"\nWhat happened\n\n  Somebody works for too long.\n",
		"\nWhat would have prevented it\n\n  A fencing token.\n",
		"\n── variant 2 of 2, in-time: The work is done in time\n",
		"\n  Nobody works for too long.\n",
		"\nWhat would have prevented it\n\n  Being quick.\n",
		"\n── all variants\n\nSide by side\n\n  side by side       late      in-time\n",
		"\n  without fencing    ✗ unsafe  ✓ safe\n",
		// There are two SET commands and two releases. The first release also has to send
		// its script.
		"\nMeasures\n\n  lock-commands  late: 5, 3 per grant\n                 in-time: 5, 3 per grant\n",
		"\nWhat each side says\n",
		"\nThe lesson\n",
		"\nSource\n",
	)
	for _, once := range []string{"The question", "TTL 10s", "What each side says", "The lesson", "Leases end."} {
		if n := strings.Count(got, once); n != 1 {
			t.Errorf("%q occurs %d times, want once", once, n)
		}
	}
	wantInOrder(t, writeExplanation(t, "markdown", text, nil), "\n### Measures\n\n- **lock-commands**: late: 5, 3 per grant\n  - in-time: 5")
	only := writeExplanation(t, "text", text, func(r *scenarios.Result) {
		s, err := r.Scenario.SelectVariant("in-time")
		if err != nil {
			t.Fatal(err)
		}
		r.Scenario, r.Runs = s, r.Runs[2:]
	})
	wantInOrder(t, only, "late, in-time: The work is done in time\n\nThe setting\n\n  lock ", "\nreplay: locksim explain late.yaml --seed 1 --variant in-time\n")
	if strings.Contains(only, "──") {
		t.Errorf("the explanation of one variant is divided as for several variants:\n%s", only)
	}
}

// An explanation says what did not happen although the scenario requires it.
func TestExplanationNamesMissingWitnesses(t *testing.T) {
	text := strings.Replace(late, "client-1 worked]", "client-1 worked, client-2 crashed]", 1)
	text += "faults: [{pause: client-2, when: client-2 crashed, for: 1s}]\n"
	wantInOrder(t, writeExplanation(t, "text", text, nil),
		"\n  did not happen  client-2 crashed\n",
		"  fault 1         did not act: it did not begin, because this moment never came:\n                  when client-2 crashed\n",
		"\nWhy the result is unknown\n", "unknown. ")
	if got := writeExplanation(t, "text", text, nil); strings.Contains(got, "The lesson") {
		t.Error("the explanation of an inconclusive run has a lesson")
	}
}

func TestCommonRowsOfSettings(t *testing.T) {
	a := []remark{{"lock", "redlock"}, {"client-1", "starts immediately"}, {"faults", "none"}}
	b := []remark{{"lock", "redlock"}, {"client-1", "starts later"}, {"faults", "none"}}
	common := commonRows([][]remark{a, b})
	if !slices.Equal(common, []remark{a[0], a[2]}) {
		t.Errorf("the common rows are %v", common)
	}
	if rest := exclude(b, common); !slices.Equal(rest, []remark{b[1]}) {
		t.Errorf("the other rows are %v", rest)
	}
	if len(a) != 3 || a[1].Text != "starts immediately" {
		t.Error("the functions have changed the settings")
	}
}
