package browser_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Names, titles and values with which an attacker could try to inject code into a page.
const (
	evilScript  = `<script>alert(1)</script>`
	evilPicture = `"><img src=x onerror=alert(2)>`
	evilEnd     = `]]>--></text></svg></style></script><marquee onclick="alert(3)">'` + "`"
	evilMarks   = "a\u202ereversed\u2066\u0007\u001b[31m\u0000\u2028b"
)

var (
	evilWord = strings.Repeat("w", 5000)
	evil     = []string{evilScript, evilPicture, evilEnd, evilMarks, evilWord}
)

// hostileResult returns the result of gc-pause with the texts of an attacker in every place
// where a text comes from outside and is not checked. Groups and assumptions are checked:
// they are words from a list.
func hostileResult(t *testing.T) *scenarios.Result {
	t.Helper()
	all := strings.Join(evil, " ")
	harmless := runScenario(t, "gc-pause")
	narrative := scenarios.Narrative{
		Assumption: harmless.Scenario.Assumption,
		Story:      all, Question: all, Why: all, Prevention: all, Lesson: all, Kleppmann: all, Sanfilippo: all, Redis: all,
	}
	r := *harmless
	s := *harmless.Scenario
	s.Name, s.File, s.Title, s.Source, s.Narrative = evilScript, evilPicture+".yaml", all, all, narrative
	r.Scenario, r.Lock, r.Runs = &s, evilEnd, nil
	renamed := map[string]string{"client-1": evilScript, "client-2": evilPicture}
	for i, slot := range harmless.Runs[0].History.Trace.Locks[0].Slots {
		renamed[slot.Node] = evil[i%len(evil)]
	}
	for _, run := range harmless.Runs {
		v := *run.Variant
		v.Scenario, v.Name, v.Title, v.Narrative, v.Lock = evilScript, evilEnd, all, narrative, evilEnd
		run.Variant, run.Lock = &v, evilEnd
		run.History = history.New(rewriteTrace(t, run.History.Trace, func(word string) string {
			if word == harmless.Runs[0].History.Trace.Locks[0].Slots[0].Key {
				return evilPicture
			}
			for name, evil := range renamed {
				word = strings.ReplaceAll(word, name, evil)
			}
			return word
		}))
		run.Verdict = checks.Check(run.History, nil)
		run.Verdict.Witnesses = []checks.WitnessResult{{Text: all, Seen: true}, {Text: all}}
		run.Verdict.Reasons = append(run.Verdict.Reasons, checks.InDoubt.Reason(all))
		run.Differences = []checks.Reason{checks.InDoubt.Reason(all)}
		r.Runs = append(r.Runs, run)
	}
	return &r
}

// rewriteTrace returns a copy of a trace in which all names and texts are replaced. Words
// that the program defines, such as the kinds of events, stay.
func rewriteTrace(t *testing.T, tr *trace.Trace, rewrite func(string) string) *trace.Trace {
	t.Helper()
	own := []string{"kind", "step", "role", "fencing", "assumption"}
	var walk func(value any) any
	walk = func(value any) any {
		switch value := value.(type) {
		case string:
			return rewrite(value)
		case []any:
			for i := range value {
				value[i] = walk(value[i])
			}
		case map[string]any:
			for name := range value {
				if !slices.Contains(own, name) {
					value[name] = walk(value[name])
				}
			}
		}
		return value
	}
	data, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(walk(tree)); err != nil {
		t.Fatal(err)
	}
	var changed trace.Trace
	if err := json.Unmarshal(data, &changed); err != nil {
		t.Fatal(err)
	}
	return &changed
}

// Every name and every text is shown as text, and the page is not wider than the window. If
// a script runs, a dialog opens or a request is made, the tab reports it.
func TestHostileText(t *testing.T) {
	html := writePage(t, hostileResult(t))
	scripts := eval[int](show(t, writePage(t, runScenario(t, "gc-pause")), phone), `document.scripts.length`)
	for _, v := range []view{phone, desktop} {
		t.Run(v.String(), func(t *testing.T) {
			p := show(t, html, v)
			p.isOnlyText(scripts)
			p.fits()
		})
	}
}

// The same holds for the front page of a site. The names of the site's files are harmless.
func TestHostileSite(t *testing.T) {
	r := hostileResult(t)
	html, _ := reports.Runs.Lookup("html")
	folder := folderOf(t, html.Pages([]*scenarios.Result{r, r}, reports.Options{}))
	scripts := eval[int](open(t, filepath.Join(siteFolder(t), "index.html"), phone), `document.scripts.length`)
	for _, v := range []view{phone, desktop} {
		t.Run(v.String(), func(t *testing.T) {
			p := open(t, filepath.Join(folder, "index.html"), v)
			p.isOnlyText(scripts)
			p.fits()
		})
	}
}

// isOnlyText reports an error if a text of the attacker has become an element, a script or
// an attribute, or if the page does not show it. scripts is the number of scripts that the
// page has by itself.
func (p *tab) isOnlyText(scripts int) {
	p.t.Helper()
	if n := eval[int](p, `document.scripts.length`); n != scripts {
		p.t.Errorf("the page has %d scripts, want %d", n, scripts)
	}
	if n := eval[int](p, `document.querySelectorAll("img, marquee").length`); n != 0 {
		p.t.Errorf("%d texts of the attacker have become elements", n)
	}
	if made := eval[[]string](p, `[...document.querySelectorAll("*")].filter(e => e.getAttributeNames().some(a => a.startsWith("on"))).map(e => e.outerHTML.slice(0, 100))`); len(made) > 0 {
		p.t.Errorf("these elements have an attribute with a script: %q", made)
	}
	text := eval[string](p, `document.documentElement.outerHTML`)
	for _, mark := range "\u202e\u2066\u0007\u001b\u0000\u2028" {
		if strings.ContainsRune(text, mark) {
			p.t.Errorf("the page contains %U", mark)
		}
	}
	seen := eval[string](p, `document.body.innerText`)
	for _, word := range []string{evilScript, evilPicture, `\u202e`} {
		if !strings.Contains(seen, word) {
			p.t.Errorf("the page does not show the text %s", word)
		}
	}
}
