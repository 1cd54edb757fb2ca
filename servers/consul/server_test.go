package consul_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// consulWorld returns a world with one server, consul-1, and clients that run programs.
func consulWorld(clients ...sim.Client) sim.Config {
	cfg := ToyWorld(clients...)
	cfg.Nodes = Nodes("consul", 1)
	return cfg
}

// requester returns a client that sends requests, each "TIME: METHOD TARGET BODY". It
// appends to heard the status and the last word of each answer. Session IDs and indexes
// have the names session-1, index-1 and so on.
func requester(t *testing.T, name string, heard *[]string, requests ...string) sim.Client {
	return Client(t, name, func(_ context.Context, p *sim.Program) error {
		transport := &http.Transport{DialContext: p.Env().Dial}
		p.Env().Cleanup(transport.CloseIdleConnections)
		names := &aliasTable{map[string]string{}, map[string]int{}}
		for _, r := range requests {
			at, request, _ := strings.Cut(r, ": ")
			d, err := time.ParseDuration(at)
			if err != nil {
				return err
			}
			SleepUntil(d)
			answer := names.replaceWords(sendRequest(&http.Client{Transport: transport}, "http://"+p.Env().Nodes[0], names.restoreWords(request)))
			*heard = append(*heard, answer[:strings.IndexByte(answer, ' ')]+" "+answer[strings.LastIndexByte(answer, ' ')+1:])
		}
		return nil
	})
}

// A restarted server becomes the leader after five to ten seconds. It still knows its
// sessions, and the TTL of each begins again. Every lock-delay that was running begins
// again.
func TestRestart(t *testing.T) {
	var heard []string
	tr := RunWorld(t, WithFaults(consulWorld(requester(t, "client-1", &heard,
		`0s: PUT /v1/session/create {"TTL":"10s","LockDelay":"60s"}`,
		`0s: PUT /v1/kv/free?acquire=session-1 x`,
		`0s: PUT /v1/session/destroy/session-1`,
		`0s: PUT /v1/session/create {"TTL":"10s"}`,
		`0s: PUT /v1/kv/held?acquire=session-2 x`,
		`60.5s: PUT /v1/session/create {"TTL":"90s"}`,
		`60.5s: PUT /v1/kv/free?acquire=session-3 x`,
		`60.5s: PUT /v1/kv/free?release=session-3 x`,
		`62s: GET /v1/kv/nothing`,
		`62s: PUT /v1/kv/free?acquire=session-3 x`,
		`121s: PUT /v1/kv/free?acquire=session-3 x`,
		`123s: PUT /v1/kv/free?acquire=session-3 x`,
	)), Lasting(time.Second, At(61*time.Second, CrashOf("consul-1", trace.Kill)))))
	AllFaultsStruck(t, tr)
	leadsAfter := OnlyEvent(t, tr, trace.KindLead, "consul-1").At - 62*time.Second
	if leadsAfter < 5*time.Second || leadsAfter > 10*time.Second {
		t.Errorf("the server is the leader %v after its restart, want between 5s and 10s", leadsAfter)
	}
	Equal(t, "the answers from 60.5s on", strings.Join(heard[5:], ", "), `200 {"ID":"session-3"}, 200 true, 200 true, 404 , 200 false, 200 false, 200 true`)
}

// All keys with a prefix are listed in sorted order. A query that waits for a change of
// them is answered when one of them is deleted, but not when another key changes.
func TestList(t *testing.T) {
	var heard, changes []string
	tr := RunWorld(t, consulWorld(
		requester(t, "client-1", &heard,
			`0s: PUT /v1/kv/a/2 x`,
			`0s: PUT /v1/kv/a/1 x`,
			`0s: PUT /v1/kv/b x`,
			`0s: GET /v1/kv/a/?recurse=`,
			`0s: GET /v1/kv/c?recurse=`,
			`2s: PUT /v1/kv/b y`,
			`3s: DELETE /v1/kv/a/1`,
		),
		requester(t, "client-2", &changes, `1s: GET /v1/kv/a/?recurse=&wait=60s&index=22`)))
	Equal(t, "the answers to the two lists", strings.Join(heard[3:5], ", "), `200 [{"LockIndex":0,"Key":"a/1","Flags":0,"Value":"eA==","CreateIndex":index-1,"ModifyIndex":index-1},`+
		`{"LockIndex":0,"Key":"a/2","Flags":0,"Value":"eA==","CreateIndex":index-2,"ModifyIndex":index-2}], 404 `)
	Equal(t, "the answer to the query that waits", strings.Join(changes, ", "), `200 [{"LockIndex":0,"Key":"a/2","Flags":0,"Value":"eA==","CreateIndex":index-2,"ModifyIndex":index-2}]`)
	Equal(t, "the time of the answer to the query that waits", OnlyEvent(t, tr, trace.KindNotify, "client-2").At.Truncate(10*time.Millisecond), 3*time.Second)
}

// A client sends any bytes. The server must still answer other clients.
func FuzzServer(f *testing.F) {
	b, err := os.ReadFile(answersFile)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range scripts(string(b)) {
		all := ""
		for _, line := range s.lines {
			parts := append(strings.SplitN(line, " ", 4), "", "", "")
			if parts[0][0] == '>' {
				one := parts[1] + " " + parts[2] + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + strconv.Itoa(len(parts[3])) + "\r\n\r\n" + parts[3]
				f.Add([]byte(one))
				all += one
			}
		}
		f.Add([]byte(all))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		feed := Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			c, err := Dial(ctx, p, 0)
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := c.Write(b); err != nil {
				return err
			}
			c.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
			return nil
		})
		var heard []string
		RunWorld(t, consulWorld(feed, requester(t, "client-2", &heard, "10s: PUT /v1/kv/k x")))
		if len(heard) != 1 || !strings.HasPrefix(heard[0], "200") {
			t.Errorf("the answers to client-2 are %q, want one with status 200", heard)
		}
	})
}

// If a client sends a request that a real server may answer differently, the run is
// inconclusive.
func TestRequestsThatAreNotServed(t *testing.T) {
	for request, want := range map[string]string{
		"GET /v1/agent/self":                             "client-1 asked consul-1 for GET /v1/agent/self, which a real Consul server may answer differently",
		"GET /v1/kv/k?keys=":                             "client-1 asked consul-1 for GET /v1/kv/ with keys, which a real Consul server may answer differently",
		"DELETE /v1/kv/k?recurse=":                       "client-1 asked consul-1 for DELETE /v1/kv/ with recurse, which a real Consul server may answer differently",
		"GET /v1/kv/k?recurse=":                          "",
		`PUT /v1/session/create {"NodeChecks":["disk"]}`: "client-1 asked consul-1 for a session with health checks, which a real Consul server may answer differently",
		"GET /v1/kv/k?dc=dc2":                            "client-1 asked consul-1 for GET /v1/kv/ with dc=dc2, which a real Consul server may answer differently",
		"GET /v1/kv/k?stale=&max_stale=5s":               "client-1 asked consul-1 for GET /v1/kv/ with max_stale, which a real Consul server may answer differently",
		"GET /v1/agent/service/register":                 "client-1 asked consul-1 for GET /v1/agent/service/register, which a real Consul server may answer differently",
		"PUT /v1/txn []":                                 "client-1 asked consul-1 for PUT /v1/txn, which a real Consul server may answer differently",
		"PUT /v1/event/fire/x":                           "client-1 asked consul-1 for PUT /v1/event/fire/x, which a real Consul server may answer differently",
		"GET /ui/":                                       "client-1 asked consul-1 for GET /ui/, which a real Consul server may answer differently",
		"GET /v1/kv/k?dc=dc1&token=t&pretty=":            "",
		"GET /nothing":                                   "",
		"GET /v1/kv/k":                                   "",
	} {
		var heard []string
		tr := RunWorld(t, consulWorld(requester(t, "client-1", &heard, "0s: "+request)))
		Equal(t, "the doubts of the run after "+request, strings.Join(tr.Doubts, ", "), want)
	}
}
