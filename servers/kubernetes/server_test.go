package kubernetes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"

	_ "github.com/locksim/locksim/servers/kubernetes"
)

const (
	allLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases" // the path of all Leases
	oneLease  = allLeases + "/one"                                       // the path of the Lease "one"
)

// A response is a server's answer.
type response struct {
	code   int
	body   string
	object struct {
		Kind, Reason, Message string
		Metadata              struct{ UID, ResourceVersion string }
		Spec                  struct {
			HolderIdentity   string
			LeaseTransitions int
		}
	}
}

// requester returns a client that runs a function, which sends each request by calling ask.
func requester(t *testing.T, run func(ask func(method, path, body string) response)) sim.Client {
	return Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
		transport := &http.Transport{DialContext: p.Env().Dial}
		p.Env().Cleanup(transport.CloseIdleConnections)
		run(func(method, path, body string) (s response) {
			r, err := http.NewRequestWithContext(ctx, method, "http://"+p.Env().Nodes[0]+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			answer, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			b, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			s.code, s.body = answer.StatusCode, string(b)
			_ = json.Unmarshal(b, &s.object) // an error means that it is not JSON
			return s
		})
		return nil
	})
}

// apiWorld returns a world with one server, kubernetes-1, and clients that run programs.
func apiWorld(clients ...sim.Client) sim.Config {
	cfg := ToyWorld(clients...)
	cfg.Nodes = Nodes("kubernetes", 1)
	return cfg
}

// lease returns a Lease as a client sends it. metadata is empty, or more fields of the
// metadata in JSON, with a comma before them. spec has the fields of the spec in JSON.
func lease(name, metadata, spec string) string {
	return fmt.Sprintf(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":%q%s},"spec":{%s}}`, name, metadata, spec)
}

// A client can change a Lease only if it has read the latest version, but it can delete the
// Lease in any case.
func TestCompareAndSwap(t *testing.T) {
	RunWorld(t, apiWorld(requester(t, func(ask func(method, path, body string) response) {
		expect := func(s response, code int, reason, message string) {
			t.Helper()
			if s.code != code || s.object.Reason != reason || !strings.Contains(s.object.Message, message) {
				t.Errorf("got %d %s, want %d %s %q", s.code, s.body, code, reason, message)
			}
		}
		expect(ask("GET", oneLease, ""), 404, "NotFound", `leases.coordination.k8s.io "one" not found`)
		made := ask("POST", allLeases, lease("one", "", `"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2000-01-01T00:00:00.000000Z","leaseTransitions":0`))
		expect(made, 201, "", "")
		expect(ask("POST", allLeases, lease("one", "", "")), 409, "AlreadyExists", `leases.coordination.k8s.io "one" already exists`)

		read := ask("GET", oneLease, "")
		expect(read, 200, "", "")
		if read.body != made.body || !strings.Contains(read.body, `"acquireTime":"2000-01-01T00:00:00.000000Z"`) {
			t.Errorf("the Lease was created as %s and read as %s, want the same", made.body, read.body)
		}
		seen := fmt.Sprintf(`,"uid":%q,"resourceVersion":%q`, read.object.Metadata.UID, read.object.Metadata.ResourceVersion)
		changed := ask("PUT", oneLease, lease("one", seen, `"holderIdentity":"b","leaseTransitions":1`))
		expect(changed, 200, "", "")
		if changed.object.Spec.HolderIdentity != "b" || changed.object.Spec.LeaseTransitions != 1 || changed.object.Metadata.ResourceVersion == read.object.Metadata.ResourceVersion {
			t.Errorf("the Lease was changed to %s, want holder b, one transition and a new resourceVersion", changed.body)
		}
		expect(ask("PUT", oneLease, lease("one", seen, "")), 409, "Conflict", "the object has been modified")
		expect(ask("PUT", oneLease, lease("one", "", "")), 422, "Invalid", "metadata.resourceVersion: Invalid value: 0: must be specified for an update")

		expect(ask("DELETE", oneLease, ""), 200, "", "")
		expect(ask("DELETE", oneLease, ""), 404, "NotFound", "")
		expect(ask("PUT", oneLease, lease("one", seen, "")), 409, "Conflict", "UID in precondition: "+read.object.Metadata.UID+", UID in object meta: ")
		again := ask("PUT", oneLease, lease("one", "", ""))
		expect(again, 201, "", "")
		if again.object.Metadata.UID == read.object.Metadata.UID {
			t.Error("the Lease has the UID of the deleted Lease, want a new one")
		}
	})))
}

// Invalid and unsupported requests are refused with the answers of a real server.
func TestRefusals(t *testing.T) {
	tr := RunWorld(t, apiWorld(requester(t, func(ask func(method, path, body string) response) {
		for _, test := range []struct {
			method, path, body string
			code               int
			says               string // a part of the answer
		}{
			{"POST", allLeases, "{", 400, "BadRequest"},
			{"POST", allLeases, `{"kind":"Pod"}`, 400, "cannot be handled as a Lease"},
			{"POST", allLeases, `{"apiVersion":"v1"}`, 400, "does not match the expected API version"},
			{"POST", allLeases, lease("One", "", ""), 422, "a lowercase RFC 1123 subdomain"},
			{"POST", allLeases, lease("", "", ""), 422, "metadata.name"},
			{"POST", allLeases, lease("one", `,"namespace":"other"`, ""), 400, "does not match the namespace"},
			{"POST", allLeases, lease("one", `,"resourceVersion":"7"`, ""), 500, "resourceVersion should not be set"},
			{"POST", allLeases, lease("one", "", `"leaseDurationSeconds":0`), 422, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
			{"POST", allLeases, lease("one", "", `"leaseTransitions":-1`), 422, "must be greater than or equal to 0"},
			{"POST", allLeases, lease("one", "", `"renewTime":"yesterday"`), 400, "BadRequest"},
			{"PUT", oneLease, lease("two", "", ""), 400, "the name of the object (two) does not match the name on the URL (one)"},
			{"GET", allLeases, "", 405, "the server does not allow this method"},
			{"PATCH", oneLease, "{}", 405, "the server does not allow this method"},
			{"GET", "/apis/coordination.k8s.io/v1/namespaces/default/leasecandidates/one", "", 404, "the server could not find the requested resource"},
			{"GET", "/api/v1/nodes", "", 404, "404 page not found"},
		} {
			if s := ask(test.method, test.path, test.body); s.code != test.code || !strings.Contains(s.body, test.says) {
				t.Errorf("%s %s %s: got %d %s, want %d %q", test.method, test.path, test.body, s.code, s.body, test.code, test.says)
			}
		}
	})))
	if len(tr.Doubts) == 0 || !strings.Contains(tr.Doubts[0], "which a real API server may serve and this one does not") {
		t.Errorf("the doubts of the run are %q, want first one about a request that is not served", tr.Doubts)
	}
}

// Every request gets an answer.
func FuzzServer(f *testing.F) {
	f.Add("POST", "", lease("one", "", `"holderIdentity":"a","leaseDurationSeconds":15`), "PUT", "/one", lease("one", `,"resourceVersion":"1"`, `"holderIdentity":"b"`))
	f.Add("PUT", "/one", lease("one", "", ""), "DELETE", "/one", `{"preconditions":{"uid":"x"}}`)
	f.Add("GET", "/one?timeout=5s", "", "PATCH", "/%00", "[]")
	f.Fuzz(func(t *testing.T, method1, path1, body1, method2, path2, body2 string) {
		RunWorld(t, apiWorld(Client(t, "client-1", func(ctx context.Context, p *sim.Program) error {
			transport := &http.Transport{DialContext: p.Env().Dial}
			p.Env().Cleanup(transport.CloseIdleConnections)
			for _, ask := range [][3]string{{method1, path1, body1}, {method2, path2, body2}} {
				r, err := http.NewRequestWithContext(ctx, ask[0], "http://"+p.Env().Nodes[0]+allLeases+ask[1], strings.NewReader(ask[2]))
				if err != nil || r.Method == http.MethodConnect {
					t.Skip("net/http's client refuses the request")
				}
				answer, err := transport.RoundTrip(r)
				if err != nil {
					continue // the request has not left the client, or the answer was not HTTP
				}
				if _, err := io.Copy(io.Discard, answer.Body); err != nil {
					t.Error(err)
				}
				answer.Body.Close()
			}
			return nil
		})))
	})
}

// If a client sends a request that a real server may serve and this one does not, the run
// is inconclusive.
func TestRequestsThatAreNotServed(t *testing.T) {
	const asked, unserved = "client-1 asked kubernetes-1 for ", ", which a real API server may serve and this one does not"
	for _, test := range []struct{ method, path, body, want string }{
		{"GET", allLeases, "", asked + "GET " + allLeases + unserved},
		{"GET", allLeases + "?watch=true", "", asked + "GET " + allLeases + "?watch=true" + unserved},
		{"DELETE", allLeases, "", asked + "DELETE " + allLeases + unserved},
		{"PATCH", oneLease, "{}", asked + "PATCH " + oneLease + unserved},
		{"GET", oneLease + "?resourceVersion=0", "", asked + "GET " + oneLease + "?resourceVersion=0" + unserved},
		{"PUT", oneLease + "?dryRun=All", lease("one", "", ""), asked + "PUT " + oneLease + "?dryRun=All" + unserved},
		{"GET", "/api/v1/namespaces/default/configmaps/one", "", asked + "GET /api/v1/namespaces/default/configmaps/one" + unserved},
		{"GET", "/version", "", asked + "GET /version" + unserved},
		{"GET", oneLease + "/status", "", asked + "GET " + oneLease + "/status" + unserved},
		{"DELETE", oneLease, `{"dryRun":["All"]}`, "a client asked for a dry run of a deletion (dryRun), which a real API server supports and this one does not"},
		{"GET", oneLease, "", ""},
		{"DELETE", oneLease, "", ""},
		{"GET", oneLease + "?timeout=5s", "", ""},
	} {
		tr := RunWorld(t, apiWorld(requester(t, func(ask func(method, path, body string) response) { ask(test.method, test.path, test.body) })))
		got := strings.Join(tr.Doubts, "; ")
		if (got == "") != (test.want == "") || test.want != "" && got != test.want {
			t.Errorf("%s %s: the doubts of the run are %q, want %q", test.method, test.path, got, test.want)
		}
	}
}
