package consul_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	_ "github.com/locksim/locksim/servers/consul"
	"github.com/locksim/locksim/sim"
)

// testdata/answers.txt contains the answers of a real Consul server, written by this test
// with -record. To record them again:
//
//	consul agent -server -bootstrap-expect=1 -node=consul-1 -bind=127.0.0.1 -data-dir=FOLDER
//	go test ./servers/consul -run Answers -record http://127.0.0.1:8500
var record = flag.String("record", "", "the address of a real Consul server, whose answers replace those in testdata/answers.txt")

const answersFile = "testdata/answers.txt"

// header is the first line of the file, which says where the answers come from.
const header = "# What Consul 1.21.0 answers; see answers_test.go.\n"

// The answers are those of a real Consul server.
func TestAnswersAreThoseOfARealConsul(t *testing.T) {
	b, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	want := string(b)
	got := header
	for _, s := range scripts(want) {
		got += "\n" + s.play(t)
	}
	if *record != "" {
		if err := os.WriteFile(answersFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Error(difference(got, want))
	}
}

// difference lists the lines in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	text := ""
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			text += fmt.Sprintf("line %d: got\n%s\nwant, as a real server answers,\n%s\n", i+1, a[i], b[i])
		}
	}
	return text
}

// A script is a list of requests, one a line. In the file, it follows a line "== NAME":
//
//	> METHOD TARGET BODY    sends a request, and waits for the answer
//	>& METHOD TARGET BODY   sends a request, and does not wait; these are numbered 1, 2, …
//	= N                     waits for the answer to the request with the number N
//	~ TIME                  lets time pass
//	< ANSWER                the answer
//
// Session IDs and indexes are replaced by names, in the order in which they appear, such as
// session-1.
type script struct {
	name  string
	lines []string // without the answers
}

// scripts parses the file, but skips its answers.
func scripts(text string) (all []script) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch name, heading := strings.CutPrefix(line, "== "); {
		case heading:
			all = append(all, script{name: name})
		case line != "" && len(all) > 0 && line[0] != '<':
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

// play runs a script, either in a world or against a real server. It returns the script
// with the answers that it got.
func (s script) play(t *testing.T) (result string) {
	if *record != "" {
		result, err := s.run(http.DefaultClient, *record)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	cfg := ToyWorld(Client(t, "client-1", func(_ context.Context, p *sim.Program) (err error) {
		transport := &http.Transport{DialContext: p.Env().Dial}
		p.Env().Cleanup(transport.CloseIdleConnections)
		result, err = s.run(&http.Client{Transport: transport}, "http://"+p.Env().Nodes[0])
		return err
	}))
	cfg.Nodes = Nodes("consul", 1)
	RunWorld(t, cfg)
	return result
}

// An aliasTable has an alias for each word that differs from server to server: for session
// IDs and indexes.
type aliasTable struct {
	words map[string]string // from a word to its alias, and back
	count map[string]int    // the number of aliases of each kind
}

var (
	sessions = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	indexes  = regexp.MustCompile(`("CreateIndex":|"ModifyIndex":|index )(\d+)`)
	aliases  = regexp.MustCompile(`(session|index)-\d+`)
)

// alias returns the alias of a word, such as session-1. kind is session or index.
func (s *aliasTable) alias(kind, word string) string {
	if word == "00000000-0000-0000-0000-000000000000" {
		return word
	}
	if s.words[word] == "" {
		s.count[kind]++
		s.words[word] = kind + "-" + strconv.Itoa(s.count[kind])
		s.words[s.words[word]] = word
	}
	return s.words[word]
}

// replaceWords replaces the words in an answer by their aliases.
func (s *aliasTable) replaceWords(answer string) string {
	answer = sessions.ReplaceAllStringFunc(answer, func(id string) string { return s.alias("session", id) })
	return indexes.ReplaceAllStringFunc(answer, func(m string) string {
		parts := indexes.FindStringSubmatch(m)
		return parts[1] + s.alias("index", parts[2])
	})
}

// restoreWords replaces the aliases in a request by their words.
func (s *aliasTable) restoreWords(line string) string {
	return aliases.ReplaceAllStringFunc(line, func(a string) string {
		if s.words[a] == "" {
			return a
		}
		return s.words[a]
	})
}

// run sends the requests of a script to a server. It returns the script with the answers.
func (s script) run(client *http.Client, server string) (string, error) {
	names := &aliasTable{map[string]string{}, map[string]int{}}
	text := "== " + s.name + "\n"
	var waiting []chan string
	for _, line := range s.lines {
		text += line + "\n"
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "~":
			d, err := time.ParseDuration(rest)
			if err != nil {
				return "", err
			}
			time.Sleep(d)
			continue
		case "=":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return "", err
			}
			text += "< " + names.replaceWords(<-waiting[n-1]) + "\n"
			continue
		}
		answer := make(chan string, 1)
		request := names.restoreWords(rest)
		go func() {
			began := time.Now()
			got := sendRequest(client, server, request)
			if verb == ">&" {
				got += fmt.Sprintf(", after %.0f s", time.Since(began).Seconds())
			}
			answer <- got
		}()
		if verb == ">&" {
			waiting = append(waiting, answer)
			time.Sleep(50 * time.Millisecond) // until the request has arrived
			continue
		}
		text += "< " + names.replaceWords(<-answer) + "\n"
	}
	return text, nil
}

// sendRequest sends a request and returns the answer as a text, with only the headers that
// matter.
func sendRequest(client *http.Client, server, request string) string {
	parts := append(strings.SplitN(request, " ", 3), "")
	r, err := http.NewRequest(parts[0], server+parts[1], strings.NewReader(parts[2]))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Accept-Encoding", "identity")
	a, err := client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		return err.Error()
	}
	text := strconv.Itoa(a.StatusCode)
	for _, name := range []string{"Content-Type", "Vary", "Allow", "X-Consul-Default-ACL-Policy", "X-Consul-KnownLeader", "X-Consul-LastContact", "X-Consul-Effective-Consistency", "X-Consul-Query-Backend", "X-Consul-Results-Filtered-By-ACLs"} {
		if v := a.Header.Get(name); v != "" {
			text += " " + strings.TrimPrefix(strings.TrimPrefix(name, "X-Consul-"), "Content-") + "=" + v
		}
	}
	if v := a.Header.Get("X-Consul-Index"); v != "" {
		text += " index " + v
	}
	return fmt.Sprintf("%s %s", text, strings.ReplaceAll(string(b), "\n", "\\n"))
}
