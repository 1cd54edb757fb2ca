package browser_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long one action on a page may take before the test fails.
const patience = time.Minute

// chromium returns the browser that all tests share. The first test that needs the browser
// starts it.
var chromium = sync.OnceValues(startChromium)

// closeChromium ends the browser if it was started.
var closeChromium = func() {}

func TestMain(m *testing.M) {
	status := m.Run()
	closeChromium()
	os.Exit(status)
}

// startChromium starts the browser.
func startChromium() (context.Context, error) {
	path, err := findChromium()
	if err != nil {
		return nil, err
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true),
		// No host name can be resolved, so requests to other hosts fail. The playground is
		// served on loopback.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)...)
	ctx, _ := chromedp.NewContext(allocator)
	closeChromium = func() {
		chromedp.Cancel(ctx)
		cancel()
	}
	return ctx, chromedp.Do(ctx)
}

// findChromium returns the path of the browser: the value of LOCKSIM_CHROMIUM, or else a known
// name in PATH.
func findChromium() (string, error) {
	if path := os.Getenv("LOCKSIM_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("install chromium, or let LOCKSIM_CHROMIUM name one")
}

// skipOrFail ends a test because something that it needs is missing. If
// LOCKSIM_REQUIRE_BROWSER=1 is set, the test fails; otherwise it is skipped.
func skipOrFail(t *testing.T, lacking error) {
	t.Helper()
	if os.Getenv("LOCKSIM_REQUIRE_BROWSER") == "1" {
		t.Fatal(lacking)
	}
	t.Skip(lacking)
}

// A view is how a reader looks at a page: the size of the window in pixels, and the
// reader's settings.
type view struct {
	width, height int64
	dark          bool
	// reducedMotion is set if the reader has asked for reduced motion.
	reducedMotion bool
	print         bool
	noScript      bool
}

var (
	phone   = view{width: 360, height: 740}
	desktop = view{width: 1440, height: 900}
)

// withDark returns the view with the dark or the light colour scheme.
func (v view) withDark(dark bool) view {
	v.dark = dark
	return v
}

func (v view) String() string {
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	return fmt.Sprintf("%d px, %s", v.width, scheme)
}

// A tab is a tab of the browser, in which one page is open.
type tab struct {
	t   *testing.T
	ctx context.Context
	// folder is the URL of the folder that contains the page. isServed says that a server on
	// loopback serves the folder, and that the page may request its files.
	folder   string
	isServed bool

	mu         sync.Mutex
	complaints []string
}

// show opens a page that is given as HTML. It checks the page as open does.
func show(t *testing.T, html []byte, v view) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o666); err != nil {
		t.Fatal(err)
	}
	return open(t, file, v)
}

// open opens a file in a new tab. The test fails if the page requests anything except
// itself and the pages in its folder, opens a dialog, or makes the browser log a message.
func open(t *testing.T, file string, v view) *tab {
	t.Helper()
	p := openUnchecked(t, file, v)
	t.Cleanup(func() {
		for _, complaint := range p.allComplaints() {
			t.Error(complaint)
		}
	})
	return p
}

// browser returns the browser. If there is none, the test is skipped or fails: see
// skipOrFail.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("the tests in a browser take their time")
	}
	ctx, err := chromium()
	if err != nil {
		skipOrFail(t, fmt.Errorf("no browser: %w", err))
	}
	return ctx
}

// openUnchecked opens a file like open, but does not fail the test if the browser
// complains.
func openUnchecked(t *testing.T, file string, v view) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser(t))
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, folder: (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Dir(file)) + "/"}).String()}
	if err := chromedp.Listen(ctx, p.recordComplaint); err != nil {
		t.Fatal(err)
	}
	p.setView(v)
	p.openInTab(filepath.Base(file))
	return p
}

// openInTab opens another file of the folder in the same tab.
func (p *tab) openInTab(name string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.folder + url.PathEscape(name)))
}

// setView sets the size of the window and the settings of the tab.
func (p *tab) setView(v view) {
	p.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: "light"},
		{Name: "prefers-reduced-motion", Value: "no-preference"},
	}}
	if v.dark {
		media.Features[0].Value = "dark"
	}
	if v.reducedMotion {
		media.Features[1].Value = "reduce"
	}
	if v.print {
		media.Media = "print"
	}
	p.do(
		chromedp.EmulateViewport(v.width, v.height),
		command(emulation.SetEmulatedMedia, media),
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.noScript}),
		command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
	)
}

// command returns an action that sends a command of the browser's protocol, and ignores the
// answer.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}

// recordComplaint records an event of the browser if no page of a report should cause it.
func (p *tab) recordComplaint(event any) {
	switch event := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var said []string
		for _, arg := range event.Args {
			said = append(said, cmp.Or(string(arg.Value), arg.Description))
		}
		p.complain("console.%s: %s", event.Type, strings.Join(said, " "))
	case *runtime.EventExceptionThrown:
		text := event.ExceptionDetails.Text
		if thrown := event.ExceptionDetails.Exception; thrown != nil {
			text += " " + cmp.Or(thrown.Description, string(thrown.Value))
		}
		p.complain("exception: %s", text)
	case *log.EventEntryAdded:
		p.complain("log: %s: %s", event.Entry.Level, event.Entry.Text)
	case *network.EventRequestWillBeSent:
		neighbour := event.Type == network.ResourceTypeDocument && strings.HasPrefix(event.Request.URL, p.folder)
		neighbour = neighbour || p.isServed && strings.HasPrefix(event.Request.URL, p.folder)
		if !neighbour && !strings.HasPrefix(event.Request.URL, "data:") {
			p.complain("request: %s", event.Request.URL)
		}
	case *network.EventWebSocketCreated:
		p.complain("request: %s", event.URL)
	case *page.EventJavascriptDialogOpening:
		p.complain("dialog: %s", event.Message)
		// The page waits until the dialog is closed. Another goroutine closes it, because
		// this goroutine handles the tab's events and must not wait.
		go chromedp.Do(p.ctx, command(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{}))
	}
}

// complain records a complaint.
func (p *tab) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, fmt.Sprintf(format, args...))
}

// allComplaints returns everything about which the browser has complained so far.
func (p *tab) allComplaints() []string {
	p.t.Helper()
	eval[bool](p, `true`) // when this answer arrives, all earlier events have been handled
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.complaints
}

// do runs actions, one after the other.
func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval returns the value of an expression in JavaScript. If the value is a promise, eval
// waits for the promise's value.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("the browser returns the error %v for the expression %.200s", err, expression)
	}
	return v
}

// until waits until a condition in JavaScript is true. what describes the condition for the
// error.
func (p *tab) until(what, condition string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !eval[bool](p, condition); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("after a minute this is still not so: %s", what)
		}
	}
}

// press presses keys. Each character is one key, and package kb has names for the other
// keys.
func (p *tab) press(keys string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// click clicks the first element that matches a CSS selector.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// follow clicks a link to another page, and waits until that page has loaded.
func (p *tab) follow(selector string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.WaitEvent(page.LoadEventFired, nil, chromedp.Click(chromedp.CSS(selector)))); err != nil {
		p.t.Fatal(err)
	}
}
