package browser_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locksim/locksim/internal/playground"
	"github.com/locksim/locksim/internal/whatif"
	"github.com/locksim/locksim/scenarios"
)

// playgroundFolder builds the playground once for all tests, and returns its folder. The
// environment variable LOCKSIM_PLAYGROUND can name a folder that has been built already.
var playgroundFolder = sync.OnceValues(func() (string, error) {
	if folder := os.Getenv("LOCKSIM_PLAYGROUND"); folder != "" {
		return folder, nil
	}
	folder, err := os.MkdirTemp("", "playground")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "run", "../../playground/build", folder)
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", build, err, said)
	}
	return folder, nil
})

// patient is the query of an address: with it the page waits for a world longer than the slowest
// machine takes.
const patient = "?patience=120000"

// openPlayground serves the playground on loopback and opens it in a new tab, at the part of
// its address that follows the name of the page. The test fails if the page requests anything
// from elsewhere, or if the browser logs a message.
func openPlayground(t *testing.T, at string, v view) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser(t))
	t.Cleanup(cancel)
	folder, err := playgroundFolder()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	p := &tab{t: t, ctx: ctx, folder: server.URL + "/", isServed: true}
	if err := chromedp.Listen(ctx, p.recordComplaint); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, complaint := range p.allComplaints() {
			t.Error(complaint)
		}
	})
	p.setView(v)
	p.do(chromedp.Navigate(p.folder + "index.html" + at))
	return p
}

// ask lets the engine in the browser answer a request.
func ask[A any](p *tab, r playground.Request) A {
	p.t.Helper()
	request, err := json.Marshal(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return eval[A](p, `playground.ask(`+string(request)+`)`)
}

// Each scenario that the engine in the browser has gives the same traces there as the command
// gives: the hashes of all runs of all variants are equal.
func TestPlaygroundTracesAreThoseOfTheCommand(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	catalogue := eval[[]playground.Group](p, `JSON.parse(document.getElementById("catalogue").textContent)`)
	compared := 0
	for _, group := range catalogue {
		for _, entry := range group.Scenarios {
			if entry.Command != "" {
				continue
			}
			s, err := scenarios.Open(entry.Name)
			if err != nil {
				t.Fatal(err)
			}
			result, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(result.Runs); i += 2 {
				off, on := result.Runs[i], result.Runs[i+1]
				a := ask[playground.Answer](p, playground.Request{Kind: playground.RunKind, Scenario: entry.Name, Variant: off.Variant.Name, Seed: 1})
				if len(a.Runs) != 2 {
					t.Errorf("%s %s: the engine in the browser answers no runs", entry.Name, off.Variant.Name)
					continue
				}
				for k, run := range []scenarios.RunResult{off, on} {
					if want := run.History.Trace.Hash(); a.Runs[k].Hash != want || a.Runs[k].Verdict != run.Verdict.Verdict {
						t.Errorf("%s %s, fencing %s: the browser has the trace %s and the verdict %s, the command %s and %s", entry.Name, off.Variant.Name, run.Fencing, a.Runs[k].Hash, a.Runs[k].Verdict, want, run.Verdict.Verdict)
					}
					compared++
				}
			}

		}
	}
	t.Logf("%d runs were compared", compared)
	if compared < 300 {
		t.Errorf("only %d runs were compared", compared)
	}
}

// The folder of the playground has only files that the page needs, and the engine is small
// enough to be loaded.
func TestPlaygroundFolder(t *testing.T) {
	browser(t)
	folder, err := playgroundFolder()
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]int64{"engine.wasm.gz": 7 << 20, "systems.wasm.gz": 15 << 20, "editor.js": 500 << 10} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s has %d bytes, want at most %d", name, info.Size(), most)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !strings.Contains(".html .css .js .json .gz", ext) {
			t.Errorf("the folder has the file %s", e.Name())
		}
	}
}

// settle waits until the page has an answer for its controls.
func (p *tab) settle() {
	p.t.Helper()
	p.until("the engine has answered", `document.documentElement.dataset.state === "idle" && playground.isReady()`)
}

// mapped waits until the danger map of the current world is complete.
func (p *tab) mapped() {
	p.t.Helper()
	p.settle()
	p.until("the danger map is complete", `document.getElementById("landscape").dataset.state === "complete"`)
}

// shown is what the page shows.
type shown struct {
	Hash, Verdict, Replay, Hashes string
	Events, Problems              []string
}

// shows returns what the page shows, when the engine has answered.
func (p *tab) shows() shown {
	p.t.Helper()
	p.settle()
	return eval[shown](p, `(texts => ({
		Hash: location.hash, Verdict: texts("#verdict")[0], Replay: texts("#replay")[0], Hashes: texts("#hashes code").join(" "),
		Events: texts("#events li"), Problems: texts("#problems p"),
	}))(selector => [...document.querySelectorAll(selector)].map(e => e.textContent))`)
}

// checkShown tests that the page shows the world in its address as the program shows it outside a
// browser: the verdicts, the traces, the events of the picture and the command. It returns what the
// page shows.
func (p *tab) checkShown() shown {
	p.t.Helper()
	got := p.shows()
	values, err := url.ParseQuery(strings.TrimPrefix(got.Hash, "#"))
	if err != nil {
		p.t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(values.Get("seed"), "1"), 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	r := playground.Request{
		Kind: playground.RunKind, Scenario: cmp.Or(values.Get("scenario"), "gc-pause"), Text: values.Get("text"), Variant: values.Get("variant"),
		Lock: values.Get("lock"), Sets: values["set"], Fencing: values.Get("fencing"), Seed: seed,
	}
	request, err := json.Marshal(r)
	if err != nil {
		p.t.Fatal(err)
	}
	var a playground.Answer
	if err := json.Unmarshal(playground.Serve(request), &a); err != nil {
		p.t.Fatal(err)
	}
	if len(a.Runs) != 2 {
		p.t.Fatalf("at %s the program has no runs: %s", got.Hash, playground.Serve(request))
	}
	want := shown{
		Hash:    got.Hash,
		Verdict: "Without fencing: " + a.Runs[0].Verdict + ". With fencing: " + a.Runs[1].Verdict + ".",
		Replay:  a.Replay, Hashes: a.Runs[0].Hash + " " + a.Runs[1].Hash, Events: a.Events[1:], Problems: []string{},
	}
	if !reflect.DeepEqual(got, want) {
		p.t.Errorf("the page shows\n%+v, want\n%+v", got, want)
	}
	return got
}

// enter replaces the text of a field, and leaves the field.
func (p *tab) enter(id, text string) {
	p.t.Helper()
	eval[any](p, `(e => { e.focus(); e.select(); })(document.getElementById("`+id+`")); null`)
	p.press(text)
	p.press(kb.Tab)
}

// focus moves the focus to an element.
func (p *tab) focus(id string) {
	p.t.Helper()
	eval[any](p, `document.getElementById("`+id+`").focus(); null`)
}

const (
	unsafeThenSafe = "Without fencing: unsafe. With fencing: safe."
	bothSafe       = "Without fencing: safe. With fencing: safe."
	bothUnsafe     = "Without fencing: unsafe. With fencing: unsafe."
)

// checkVerdict tests that the page shows some verdicts, and that they are those of the world
// in its address.
func (p *tab) checkVerdict(want string) shown {
	p.t.Helper()
	got := p.checkShown()
	if got.Verdict != want {
		p.t.Errorf("at %s the page shows %q, want %q", got.Hash, got.Verdict, want)
	}
	return got
}

// The verdict turns at the lengths of the pause at which it turns for the command:
// locksim sweep gc-pause --set 'faults[1].for=1s..60s'.
func TestPlaygroundTurnsWhereTheSweepDoes(t *testing.T) {
	s, err := scenarios.Open("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	values, _, err := whatif.ParseRange("1s..60s")
	if err != nil {
		t.Fatal(err)
	}
	sweep, err := whatif.Run(s, "faults[1].for", values, 10, scenarios.RunOptions{Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(sweep.Bands) < 3 {
		t.Fatalf("the sweep has %d bands, want at least 3", len(sweep.Bands))
	}
	p := openPlayground(t, patient, desktop)
	p.until("the fault can be changed", `document.getElementById("size-words").value !== ""`)
	for _, band := range sweep.Bands {
		for _, value := range []int64{band.From, band.To} {
			p.enter("size-words", sweep.Format(value))
			p.checkVerdict("Without fencing: " + band.Outcome.Off + ". With fencing: " + band.Outcome.On + ".")
		}
	}
}

// Every control works by keys alone, and the back button leads to the world before.
func TestPlaygroundByKeys(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	if eval[bool](p, `document.documentElement.hasAttribute("data-old")`) {
		t.Error("the first answer is marked as old while the engine is loaded")
	}
	first := p.checkVerdict(unsafeThenSafe)
	p.until("the danger map is there", `!document.getElementById("landscape").hidden`)

	entries := eval[int](p, `history.length`)
	p.focus("size")
	p.press(kb.ArrowLeft)
	p.press(kb.ArrowLeft)
	shorter := p.checkVerdict(bothSafe)
	if n := eval[int](p, `history.length`) - entries; n != 1 {
		t.Errorf("two keys in a row make %d entries of the history, want one", n)
	}
	eval[any](p, `new Promise(done => setTimeout(() => done(null), 1200))`) // a key after a second is another step
	p.press(kb.End)
	p.checkVerdict(unsafeThenSafe)
	p.focus("strikes")
	p.press(kb.Home)
	p.checkVerdict(bothSafe)
	eval[any](p, `history.back(); null`)
	p.until("the page shows the world before", `location.hash.includes("for") && !location.hash.includes("before")`)
	p.checkVerdict(unsafeThenSafe)
	eval[any](p, `history.go(-1); null`)
	p.until("the page shows the shorter pause", `location.hash === `+strconv.Quote(shorter.Hash))
	p.checkVerdict(bothSafe)

	p.focus("reset")
	p.press(kb.Enter)
	if again := p.checkVerdict(unsafeThenSafe); again.Hashes != first.Hashes {
		t.Errorf("after all changes are undone the traces are %s, and were %s", again.Hashes, first.Hashes)
	}
	p.enter("ttl", "1m")
	p.enter("nodes", "3")
	p.enter("seed", "7")
	if got := p.checkShown(); got.Replay != "locksim run gc-pause --seed 7 --set lock.ttl=1m --set lock.nodes=3" {
		t.Errorf("the command is %s", got.Replay)
	}
	p.focus("lock")
	p.press("single") // by its first letters
	if got := p.checkShown(); !strings.Contains(got.Replay, " --lock single") {
		t.Errorf("with the lock single the command is %s", got.Replay)
	}
	eval[any](p, `document.querySelector("[name=fencing]:checked").focus(); null`)
	p.press(kb.ArrowDown)
	if got := p.checkShown(); !strings.HasSuffix(got.Replay, " --fencing off") {
		t.Errorf("with the run without fencing the command is %s", got.Replay)
	}
	p.focus("scenario")
	p.press(kb.ArrowDown)
	if got := p.checkShown(); !strings.Contains(got.Replay, "locksim run gc-pause-after-check ") {
		t.Errorf("after the next scenario was chosen the command is %s", got.Replay)
	}

	// The danger map: arrow keys move in it, and the world with them.
	p.focus("scenario")
	p.press(kb.ArrowUp)
	p.checkVerdict(unsafeThenSafe)
	p.mapped()
	// The pause of the scenario ends a little after 30s, which is between two columns, and after the TTL, which is 30s.
	if near := eval[string](p, `document.querySelector("#map .near").dataset.words + "|" + document.querySelectorAll("#map [aria-selected]").length`); near != "before client-1 write, 35s|0" {
		t.Errorf("the nearest cell and the number of cells that are the world are %s", near)
	}
	eval[any](p, `document.querySelector("#map [tabindex='0']").focus(); null`)
	p.press(kb.ArrowRight)
	p.checkCell(unsafeThenSafe, "x")
	p.press(kb.ArrowLeft)
	p.press(kb.ArrowLeft)
	p.checkCell(bothSafe, "·")
}

// checkCell tests that the cell of the danger map at which the page is has a sign, and that
// the page shows some verdicts.
func (p *tab) checkCell(verdict, sign string) {
	p.t.Helper()
	p.checkVerdict(verdict)
	if got := eval[string](p, `document.querySelector("#map [aria-selected]").textContent`); got != sign {
		p.t.Errorf("the cell has the sign %s, want %s", got, sign)
	}
}

// A pointer drags the fault and its end along the time line, and clicks a cell of the danger
// map.
func TestPlaygroundByPointer(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	p.checkVerdict(unsafeThenSafe)
	p.mapped()
	center := func(selector string) (x, y float64) {
		at := eval[struct{ X, Y float64 }](p, `(e => { e.scrollIntoView({block: "center"}); const b = e.getBoundingClientRect(); return {X: b.x + b.width / 2, Y: b.y + b.height / 2}; })(document.querySelector(`+strconv.Quote(selector)+`))`)
		return at.X, at.Y
	}
	x, y := center("#track .handle")
	p.do(chromedp.DragAndDropXY(x, y, x-60, y))
	shorter := p.checkVerdict(bothSafe)
	if !strings.Contains(shorter.Replay, "faults[1].for=") {
		t.Errorf("after the end of the fault was dragged the command is %s", shorter.Replay)
	}
	x, y = center("#track .handle")
	p.do(chromedp.DragAndDropXY(x, y, x+150, y))
	p.checkVerdict(unsafeThenSafe)
	x, y = center("#track .block")
	p.do(chromedp.DragAndDropXY(x, y, x-600, y))
	if got := p.checkVerdict(bothSafe); !strings.Contains(got.Replay, "faults[1].before=client-1 acquire") {
		t.Errorf("after the fault was dragged to the beginning the command is %s", got.Replay)
	}
	for _, c := range []struct {
		cell, verdict, sign string
	}{{`#map td[data-row="6"][data-column="8"]`, unsafeThenSafe, "x"}, {`#map td[data-row="0"][data-column="8"]`, bothSafe, "·"}} {
		x, y = center(c.cell)
		p.do(chromedp.MouseClickXY(x, y))
		p.checkCell(c.verdict, c.sign)
	}
}

// If something cannot be run, the page says so in a sentence, and continues to work. A mistake in
// the text of a scenario has the line, and a button that leads there.
func TestPlaygroundProblems(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	p.checkVerdict(unsafeThenSafe)
	p.enter("ttl", "soon")
	if got := p.shows(); len(got.Problems) != 1 || !strings.HasPrefix(got.Problems[0], "lock.ttl=soon: ") {
		t.Errorf("with a TTL that is none, the problems are %q", got.Problems)
	}
	p.enter("ttl", "25s")
	p.checkShown()
	p.click("#reset")
	p.checkVerdict(unsafeThenSafe)
	p.openEditor()
	p.replaceInFile("until: client-2 released", "forr: 20s")
	p.until("the mistake is listed", `document.querySelector("#mistakes button") !== null`)
	p.until("the mistake is underlined", inEditor(`.querySelector(".cm-lintRange-error") !== null`))
	line := eval[string](p, `document.querySelector("#mistakes button").textContent`)
	p.click("#mistakes button")
	p.until("the cursor is at the mistake", inEditor(`.querySelector(".cm-activeLineGutter.cm-gutterElement")?.textContent === `+strconv.Quote(strings.TrimPrefix(line, "Line "))))
	if got := eval[string](p, inEditor(`.activeElement?.getAttribute("aria-label")`)); got != "The scenario in YAML" {
		t.Errorf("after the button %q, the focus is at %q", line, got)
	}
	p.replaceInFile("forr: 20s", "for: 20s")
	p.until("the mistake is gone", `document.querySelector("#mistakes button") === null && document.documentElement.dataset.state === "idle"`)
	if n := eval[int](p, inEditor(`.querySelectorAll(".cm-lintRange-error").length`)); n != 0 {
		t.Errorf("without a mistake, %d places are underlined", n)
	}
	// The file says what must have happened: that the keys expired during the pause.
	if got := p.checkVerdict("Without fencing: unknown. With fencing: unknown."); got.Replay != "locksim run scenario.yaml --seed 1" {
		t.Errorf("the command for a text of one's own is %s", got.Replay)
	}
	p.do(chromedp.Navigate(p.folder + "index.html#scenario=consul-gc-pause"))
	p.until("the page says which command plays the scenario", `document.querySelector("#problems p")?.textContent.endsWith("locksim run consul-gc-pause") === true`)
}

// inEditor is a script that looks for something in the editor.
func inEditor(script string) string {
	return `document.getElementById("editor").shadowRoot` + script
}

// openFile opens the file. It does not click at a place, because what is above may still grow.
func (p *tab) openFile() {
	p.t.Helper()
	eval[any](p, `document.querySelector("#file-box summary").click(); null`)
}

// openEditor opens the file, and waits until the editor is there.
func (p *tab) openEditor() {
	p.t.Helper()
	p.openFile()
	p.until("the editor is there", `document.getElementById("editor").shadowRoot?.querySelector(".cm-content") != null`)
}

// replaceInFile replaces something in the scenario, as if a reader had typed it.
func (p *tab) replaceInFile(old, replacement string) {
	p.t.Helper()
	eval[any](p, fmt.Sprintf(`(f => { f.text = f.text.replace(%q, %q); f.onInput(); })(playground.file()); null`, old, replacement))
}

// The editor offers what the schema of scenarios allows at the cursor, and the page runs the text
// that was typed. The key Tab leaves the editor.
func TestPlaygroundEditor(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	p.checkVerdict(unsafeThenSafe)
	p.openEditor()
	p.replaceInFile("until: client-2 released", "")
	line := eval[int](p, `playground.file().text.split("\n").findIndex(line => line.includes("pause: client-1")) + 1`)
	eval[any](p, fmt.Sprintf(`playground.file().goTo(%d, 1000).then(() => null)`, line+1)) // where the field was that is removed
	p.press("fo")
	const selected = `.querySelector(".cm-tooltip-autocomplete li[aria-selected]")?.textContent`
	p.until("the field is offered", inEditor(selected+` === "for"`))
	p.until("the field is explained", inEditor(`.querySelector(".cm-completionInfo")?.textContent.length > 10`))
	// For 75 ms after the list has opened, the editor takes no key as a choice from it, so that
	// nobody chooses by accident.
	eval[any](p, `new Promise(done => setTimeout(() => done(null), 200))`)
	// The key event has no text: otherwise the browser would also type the key, although the editor
	// has used it to accept the field.
	p.do(command(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13}))
	p.press("1s")
	p.until("the text has the field", `/\n +for: 1s\n/.test(playground.file().text)`)
	p.until("the new text has run", `location.hash.includes("for%3A+1s") && document.documentElement.dataset.state === "idle"`)
	if problems := p.shows().Problems; len(problems) > 0 {
		t.Errorf("the text that was typed has the problems %q", problems)
	}
	p.press(kb.Tab)
	if eval[bool](p, inEditor(`.activeElement !== null`)) {
		t.Error("the key Tab does not leave the editor")
	}
	p.click("#reset")
	p.checkVerdict(unsafeThenSafe)
	p.until("the editor has the scenario again", `playground.file().text.includes("until: client-2 released")`)
}

// A playground that was built without npm has no editor. There the file is a plain text field.
func TestPlaygroundWithoutEditor(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	p.checkVerdict(unsafeThenSafe)
	eval[any](p, `playground.file().element = null`)
	p.openFile()
	eval[any](p, `(f => { f.value = f.value.replace("until: client-2 released", "forr: 20s"); f.dispatchEvent(new Event("input")); })(document.getElementById("file")); null`)
	p.until("the mistake is listed", `document.querySelector("#mistakes button") !== null`)
	p.click("#mistakes button")
	p.until("the cursor is at the mistake", `document.activeElement.id === "file" && document.activeElement.selectionStart > 0`)
	if got := eval[string](p, `(f => f.value.slice(f.selectionStart).split("\n")[0])(document.getElementById("file"))`); !strings.HasPrefix(got, "forr: 20s") && !strings.Contains(got, "pause: client-1") {
		t.Errorf("the button leads to %q", got)
	}
}

// The timeline is that of the reports: what repeats is one row, and a control shows everything.
// It follows the world, and is computed only while it is open.
func TestPlaygroundTimeline(t *testing.T) {
	p := openPlayground(t, patient+"#scenario=same-majority-down", desktop)
	p.settle()
	if n := eval[int](p, `document.querySelectorAll("#timeline li").length`); n != 0 {
		t.Errorf("before the timeline is opened it has %d rows", n)
	}
	eval[any](p, `document.querySelector("#timeline-box summary").click(); null`)
	merged := p.checkTimeline(playground.Request{Scenario: "same-majority-down"})
	p.focus("all")
	p.press(" ")
	if all := p.checkTimeline(playground.Request{Scenario: "same-majority-down", All: true}); all < 10*merged {
		t.Errorf("merged, the timeline has %d rows, and with every message %d", merged, all)
	}
	p.focus("all") // the buttons for what is folded have taken the focus
	p.press(" ")
	p.selectOption("scenario", "gc-pause")
	p.checkTimeline(playground.Request{Scenario: "gc-pause"})
	p.enter("ttl", "soon") // cannot be run, so the timeline stays that of the last world
	p.settle()
	p.checkTimeline(playground.Request{Scenario: "gc-pause"})
}

// checkTimeline tests that the page shows the timeline of a world, and returns the number of
// its rows.
func (p *tab) checkTimeline(r playground.Request) int {
	p.t.Helper()
	r.Kind, r.Seed = playground.TimelineKind, 1
	request, err := json.Marshal(r)
	if err != nil {
		p.t.Fatal(err)
	}
	var answer playground.Timeline
	if err := json.Unmarshal(playground.Serve(request), &answer); err != nil {
		p.t.Fatal(err)
	}
	var want []string
	for _, part := range answer.Parts {
		for _, row := range part.Rows {
			want = append(want, row.Text)
		}
	}
	p.settle()
	p.until("the timeline is there", `document.getElementById("timeline-box").dataset.state === "complete"`)
	if n := eval[int](p, `document.querySelectorAll("#timeline li").length`); len(want) > 300 && n > len(want)/2 {
		p.t.Errorf("the timeline of %s has %d rows before a button shows the others", request, n)
	}
	eval[any](p, `document.querySelectorAll("#timeline li button").forEach(b => b.click()); null`)
	if got := eval[[]string](p, `[...document.querySelectorAll("#timeline li")].map(li => li.querySelector("b + span").textContent)`); !slices.Equal(got, want) {
		p.t.Errorf("the timeline of %s has %d rows, want %d, or other rows, of which the last is %q, want %q", request, len(got), len(want), got[len(got)-1:], want[len(want)-1])
	}
	return len(want)
}

// For a reader who has asked for reduced motion, nothing moves.
func TestPlaygroundReducedMotion(t *testing.T) {
	for _, isReduced := range []bool{false, true} {
		v := desktop
		v.reducedMotion = isReduced
		p := openPlayground(t, patient, v)
		p.checkVerdict(unsafeThenSafe)
		eval[any](p, `playground.moves = 0; for (const event of ["transitionrun", "animationstart"]) addEventListener(event, () => playground.moves++); null`)
		p.enter("ttl", "soon") // the picture becomes pale
		p.until("the problem is shown", `document.body.classList.contains("stale")`)
		eval[any](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))`)
		if moves := eval[int](p, `playground.moves`); (moves == 0) != isReduced {
			t.Errorf("with reduced motion %v, %d parts of the page move", isReduced, moves)
		}
	}
}

// The engine with the other systems is loaded when the reader wants one of them, and plays a
// scenario of Redis as the small engine does.
func TestPlaygroundOtherSystems(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	before := p.checkVerdict(unsafeThenSafe)
	p.selectOption("lock", "zookeeper")
	if got := p.checkShown(); !strings.Contains(got.Replay, "--lock zookeeper") {
		t.Errorf("with another lock, the command is %s", got.Replay)
	}
	p.selectOption("lock", "")
	if after := p.checkVerdict(unsafeThenSafe); after.Hashes != before.Hashes {
		t.Errorf("the engines have the traces %s and %s", before.Hashes, after.Hashes)
	}
	p.selectOption("scenario", "postgres-gc-pause")
	if got := p.checkShown(); got.Replay != "locksim run postgres-gc-pause --seed 1" {
		t.Errorf("the command is %s", got.Replay)
	}
}

// selectOption selects an option.
func (p *tab) selectOption(id, value string) {
	p.t.Helper()
	eval[any](p, fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event("change")); })(document.getElementById(%q)); null`, value, id))
}

// A world that does not end is ended by the page, which says so and continues to work.
func TestPlaygroundEndsAWorld(t *testing.T) {
	values := url.Values{"set": {"horizon=4h", "lock.ttl=2h", "faults[1].for=1h", "clients.client-2={starts: client-1 acquired, retry-every: 1ms}"}}
	p := openPlayground(t, "?patience=2000#"+strings.ReplaceAll(values.Encode(), "+", "%20"), desktop)
	p.until("the page says that it waits for the world", `document.getElementById("verdict").textContent === "This world is being run."`)
	p.until("the page has ended the world", `document.querySelector("#problems p")?.textContent.includes("did not end within 2 seconds") === true`)
	// A request that waits behind a world that does not end is answered by the next engine.
	endless := playground.Request{Kind: playground.CellKind, Scenario: "gc-pause", Seed: 1, Sets: values["set"]}
	request, err := json.Marshal(endless)
	if err != nil {
		t.Fatal(err)
	}
	eval[any](p, `playground.ask(`+string(request)+`).then(a => { playground.ended = a.problems[0].text; }); null`)
	p.click("#reset")
	p.checkVerdict(unsafeThenSafe)
	if got := eval[string](p, `playground.ended`); !strings.Contains(got, "did not end within 2 seconds") {
		t.Errorf("the cell of a world that does not end is answered by %q", got)
	}
}

// axe-core finds nothing on the playground that would hinder readers, and the page is no wider
// than a phone.
func TestPlaygroundIsAccessible(t *testing.T) {
	axe := axeCore(t)
	p := openPlayground(t, patient, desktop)
	p.settle()
	p.mapped()
	eval[any](p, axe+`; document.querySelectorAll("details").forEach(d => d.open = true); null`)
	check := func(what string) {
		t.Helper()
		for _, width := range []int64{390, 1440} {
			for _, dark := range []bool{false, true} {
				v := view{width: width, height: 844, dark: dark}
				p.setView(v)
				for _, violation := range p.violations() {
					t.Errorf("%s at %s: %s", what, v, violation)
				}
				if excess := eval[int](p, `document.scrollingElement.scrollWidth - innerWidth`); excess > 0 {
					t.Errorf("%s at %s: the page is %d pixels too wide", what, v, excess)
				}
			}
		}
	}
	check("a result")
	p.enter("ttl", "soon")
	p.settle()
	check("a problem")
}

// TestPlaygroundTimes reports how long the page takes, and fails only if it takes very long,
// because other programs may be running.
func TestPlaygroundTimes(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	p.settle()
	first := eval[float64](p, `performance.getEntriesByName("first picture")[0].startTime`)
	ready := eval[float64](p, `performance.getEntriesByName("engine")[0].startTime`)
	p.mapped()
	p.focus("size")
	for range 15 {
		p.press(kb.ArrowLeft)
		p.settle()
	}
	times := eval[[]float64](p, `playground.latencies.slice(-15)`)
	slices.Sort(times)
	t.Logf("the first picture after %.0f ms, the engine after %.0f ms; from a key to the picture %.0f ms at the median, %.0f ms at most", first, ready, times[7], times[14])
	if first > 5_000 || times[7] > 2_000 {
		t.Error("that is too long")
	}
}

// TestPlaygroundScreenshots writes screenshots of the playground; see TestScreenshots.
func TestPlaygroundScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots names no folder for them")
	}
	for _, v := range []view{{width: 390, height: 844}, {width: 390, height: 844, dark: true}, desktop, desktop.withDark(true), {width: 1000, height: 1400, print: true}} {
		p := openPlayground(t, patient, v)
		p.settle()
		p.mapped()
		v.height = eval[int64](p, `document.scrollingElement.scrollHeight`)
		p.setView(v)
		p.photograph(filepath.Join(*screenshots, fmt.Sprintf("playground-%d-dark=%t-print=%t.png", v.width, v.dark, v.print)))
	}
}

// The page shows worlds of every shape: several variants, several faults, a fault of a clock or
// of a message, and none.
func TestPlaygroundShowsEveryShape(t *testing.T) {
	p := openPlayground(t, patient, desktop)
	for _, c := range []struct {
		at     string
		hasMap bool
	}{
		{"#scenario=clock-jump", true}, {"#scenario=slow-drift", true}, {"#scenario=node-pause", true}, {"#scenario=delayed-write", true},
		{"#scenario=no-faults", false}, {"#scenario=same-gc-pause&lock=redsync", true}, {"#scenario=pause-in-flight&seed=3", true},
		{"#scenario=crash-restart", true},
	} {
		eval[any](p, `location.hash = `+strconv.Quote(c.at)+`; null`)
		p.until("the page has noticed", `document.getElementById("replay").textContent.includes(`+strconv.Quote(strings.FieldsFunc(c.at, func(r rune) bool { return r == '=' || r == '&' })[1]+" ")+`)`)
		p.checkShown()
		p.until(c.at+": the danger map is there, or not", `document.getElementById("landscape").hidden === `+strconv.FormatBool(!c.hasMap))
	}
}
