package http1_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/http1"
	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A web is a server that echoes each request, except for four paths. It answers a request for
// /wait only when another client requests /go, and one for /later after five seconds. It
// answers /gone with the number of clients that have closed their connection in a /wait.
type web struct {
	*http1.Server
	host    *sim.Host
	waiting []*http1.Call
	gone    int
}

func init() {
	sim.RegisterSystem(sim.System{
		Name: "web", Title: "a web server", Node: "web server", Port: 80,
		Framer: func(*sim.Names) sim.Framer { return &http1.Framer{LargestBody: http1.MaxTestBody} },
		Boot: func(host *sim.Host) sim.Server {
			w := &web{host: host}
			w.Server = http1.NewServer(host, w.serve)
			return w
		},
	})
}

func (w *web) serve(call *http1.Call) {
	switch call.URL.Path {
	case "/wait":
		w.waiting = append(w.waiting, call)
		call.OnGone(func() { w.gone++ })
	case "/go":
		w.host.Emit(trace.Event{Kind: trace.KindSet, Key: "go", By: call.By(), Owner: call.By()})
		for _, waiting := range w.waiting {
			waiting.Answer(http1.Answer{Status: http.StatusOK, Body: []byte("waited")})
		}
		w.waiting = nil
		call.Answer(http1.Answer{Status: http.StatusNoContent})
	case "/later":
		w.host.At(w.host.Now()+5*time.Second, func() {
			w.Do(func() { call.Answer(http1.Answer{Status: http.StatusOK, Body: []byte("later")}) })
		})
	case "/gone":
		call.Answer(http1.Answer{Status: http.StatusOK, Body: fmt.Append(nil, w.gone)})
	default:
		call.Answer(http1.Answer{Status: http.StatusOK, Header: http.Header{"X-Said": {"so"}}, Body: echo(call.Method, call.URL.String(), call.Content)})
	}
}

func echo(method, url string, content []byte) []byte {
	return fmt.Appendf(nil, "%s %s %q", method, url, content)
}

func (w *web) ClockChanged()     {}
func (w *web) Crash(trace.Crash) { w.Server.Crash() }
func (w *web) Restart()          { w.waiting = nil }
func (w *web) Stop()             {}

// webWorld is a world with a web server.
func webWorld(clients ...sim.Client) sim.Config {
	cfg := ToyWorld(clients...)
	cfg.Nodes = Nodes("web", 1)
	return cfg
}

// rawClient is a client that writes some bytes and keeps what it receives.
func rawClient(t *testing.T, name, b string, heard *[]byte) sim.Client {
	return Client(t, name, func(ctx context.Context, p *sim.Program) error {
		c, err := Dial(ctx, p, 0)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := io.WriteString(c, b); err != nil {
			return err
		}
		c.SetReadDeadline(time.Now().Add(time.Minute))
		all, err := io.ReadAll(c)
		*heard = append(*heard, all...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		return err
	})
}

// browser returns the HTTP client of net/http, for a program of a world.
func browser(p *sim.Program) *http.Client {
	t := &http.Transport{DialContext: p.Env().Dial}
	p.Env().Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// get requests a path, and returns the status and the body of the answer.
func get(ctx context.Context, c *http.Client, p *sim.Program, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+p.Env().Nodes[0]+path, nil)
	if err != nil {
		return "", err
	}
	answer, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return fmt.Sprintf("%d %s", answer.StatusCode, b), err
}

// A long poll is answered when the event happens that it waits for. Later requests on the
// same connection are answered after it.
func TestAnswersComeInOrder(t *testing.T) {
	var heard []byte
	const wait = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"
	const hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
	requestsGo := Client(t, "client-2", func(ctx context.Context, p *sim.Program) error {
		SleepUntil(10 * time.Second)
		_, err := get(ctx, browser(p), p, "/go")
		return err
	})
	tr := RunWorld(t, webWorld(rawClient(t, "client-1", wait+hello, &heard), requestsGo))
	first, second, _ := strings.Cut(string(heard), "waited")
	if !strings.HasPrefix(first, "HTTP/1.1 200 OK") || !strings.HasSuffix(second, "GET /hello \"\"") {
		t.Errorf("client-1 heard %q, want the answer to /wait and then the answer to /hello", heard)
	}
	if got := FirstEvent(t, tr, trace.KindDeliver, "client-1"); got.At < 10*time.Second {
		t.Errorf("the first answer came at %v, want after /go was requested at 10s", got.At)
	}
}

// The HTTP client of net/http gets its answers on one connection, which it reuses. Answers that the
// server gives when a timer fires reach it too.
func TestBrowserIsServed(t *testing.T) {
	var heard []string
	asks := Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		c := browser(p)
		for _, path := range []string{"/later", "/a?b=c", "/gone"} {
			answer, err := get(ctx, c, p, path)
			if err != nil {
				return err
			}
			heard = append(heard, fmt.Sprintf("%v %s", Now().Round(time.Second), answer))
		}
		return nil
	})
	tr := RunWorld(t, webWorld(asks))
	Equal(t, "heard", strings.Join(heard, ", "), `5s 200 later, 5s 200 GET /a?b=c "", 5s 200 0`)
	OnlyEvent(t, tr, trace.KindConnect, "client-1")
}

// The server is notified when a client closes its connection while it waits for an answer.
func TestServerLearnsThatWaitingClientIsGone(t *testing.T) {
	asks := Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		c := browser(p)
		if answer, err := get(WithTrueTimeout(ctx, time.Second), c, p, "/wait"); err == nil {
			return fmt.Errorf("/wait is answered with %s, want no answer", answer)
		}
		time.Sleep(time.Second)
		if answer, err := get(ctx, c, p, "/gone"); answer != "200 1" {
			return fmt.Errorf("/gone is answered with %s, %v; want 200 1", answer, err)
		}
		_, err := get(ctx, c, p, "/go") // no call waits any more, so this answers none
		return err
	})
	RunWorld(t, webWorld(asks))
}

// If a fault crashes or pauses a server just after it has handled a request, the answer is
// not sent yet.
func TestAnswersWaitForFaults(t *testing.T) {
	asks := func(heard *string) sim.Client {
		return Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			answer, err := get(WithTrueTimeout(ctx, time.Minute), browser(p), p, "/go")
			*heard = fmt.Sprintf("%v at %v", cmp.Or(answer, fmt.Sprint(err != nil)), Now().Round(time.Second))
			return nil
		})
	}
	var heard string
	handled := "client-1 holds web-1" // the server has handled the request /go
	AllFaultsStruck(t, RunWorld(t, WithFaults(webWorld(asks(&heard)), When(handled, CrashOf("web-1", trace.Kill)))))
	Equal(t, "after a crash: whether the request fails, and when", heard, "true at 0s")
	AllFaultsStruck(t, RunWorld(t, WithFaults(webWorld(asks(&heard)), Lasting(9*time.Second, When(handled, PauseOf("web-1"))))))
	Equal(t, "after a pause: the answer, and when", heard, "204  at 9s")
}

// If a client sends bytes that are not HTTP, the run is inconclusive.
func TestBytesThatAreNotHTTP(t *testing.T) {
	var heard []byte
	tr := RunWorld(t, webWorld(rawClient(t, "client-1", "hello\r\n", &heard)))
	Equal(t, "doubts", strings.Join(tr.Doubts, ", "), "client-1 sent web-1 bytes that are no HTTP/1.1 request")
}

// For every stream of bytes, the answers are those of net/http's own server.
func TestAnswersAreThoseOfNetHTTP(t *testing.T) {
	real := listen(t)
	for _, b := range http1.Streams() {
		var heard []byte
		RunWorld(t, webWorld(rawClient(t, "client-1", b, &heard)))
		is, want := describeAnswers(heard), describeAnswers(ask(t, real, b))
		if is != want {
			t.Errorf("%.300q is answered by the simulated server with\n%s\nand by net/http with\n%s", b, is, want)
		}
	}
}

// listen starts a real server that echoes each request, and returns its address.
func listen(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has closed the connection
		}
		w.Header().Set("X-Said", "so")
		w.Header()["Content-Type"] = nil
		_, _ = w.Write(echo(r.Method, r.URL.String(), content))
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// ask writes bytes to a real server, and returns all that it answers.
func ask(t *testing.T, addr, b string) []byte {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() {
		_, _ = io.WriteString(c, b)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	heard, _ := io.ReadAll(c) // an error, such as a reset, also ends the answer
	return heard
}

// answerStart matches the beginning of an answer.
var answerStart = regexp.MustCompile(`HTTP/1\.[01] `)

// describeAnswers returns answers as a text, without their dates and with sorted headers.
func describeAnswers(b []byte) string {
	var answers []string
	for answer := range strings.SplitSeq(answerStart.ReplaceAllString(string(b), "\x00$0"), "\x00") {
		head, body, _ := strings.Cut(answer, "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Date: ") })
		slices.Sort(lines)
		answers = append(answers, fmt.Sprintf("%q with %q", lines, body))
	}
	return strings.Join(answers, "\n")
}
