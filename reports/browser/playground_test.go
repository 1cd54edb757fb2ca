package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/locksim/locksim/internal/playground"
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
	return eval[A](p, `playground.engine.ask(`+string(request)+`)`)
}

// Each scenario that the engine in the browser has gives the same traces there as the command
// gives: the hashes of all runs of all variants are equal.
func TestPlaygroundTracesAreThoseOfTheCommand(t *testing.T) {
	p := openPlayground(t, "", desktop)
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
	const most = 7 << 20
	info, err := os.Stat(filepath.Join(folder, "engine.wasm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("the engine has %d bytes, want at most %d", info.Size(), most)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !strings.Contains(".html .css .js .gz", ext) {
			t.Errorf("the folder has the file %s", e.Name())
		}
	}
}

// settle waits until the page has an answer for its controls.
func (p *tab) settle() {
	p.t.Helper()
	p.until("the engine has answered", `document.documentElement.dataset.state === "idle" && playground.engine.isReady === true`)
}

func TestPlaygroundShots(t *testing.T) {
	for _, v := range []view{{width: 390, height: 844}, desktop, desktop.withDark(true)} {
		p := openPlayground(t, "", v)
		p.settle()
		p.until("map", `document.getElementById("map-progress").textContent.startsWith("All")`)
		v.height = eval[int64](p, `document.scrollingElement.scrollHeight`)
		p.setView(v)
		p.photograph(fmt.Sprintf("/tmp/play/shot-%d-%v.png", v.width, v.dark))
	}
}
