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
	all = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	one = all + "/one"
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

// requester is a client that makes requests.
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

func apiWorld(clients ...sim.Client) sim.Config {
	cfg := ToyWorld(clients...)
	cfg.Nodes = Nodes("kubernetes", 1)
	return cfg
}

// lease returns a Lease as a client sends it.
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
		expect(ask("GET", one, ""), 404, "NotFound", `leases.coordination.k8s.io "one" not found`)
		made := ask("POST", all, lease("one", "", `"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2000-01-01T00:00:00.000000Z","leaseTransitions":0`))
		expect(made, 201, "", "")
		expect(ask("POST", all, lease("one", "", "")), 409, "AlreadyExists", `leases.coordination.k8s.io "one" already exists`)

		read := ask("GET", one, "")
		expect(read, 200, "", "")
		if read.body != made.body || !strings.Contains(read.body, `"acquireTime":"2000-01-01T00:00:00.000000Z"`) {
			t.Errorf("it was made as %s and is %s", made.body, read.body)
		}
		seen := fmt.Sprintf(`,"uid":%q,"resourceVersion":%q`, read.object.Metadata.UID, read.object.Metadata.ResourceVersion)
		changed := ask("PUT", one, lease("one", seen, `"holderIdentity":"b","leaseTransitions":1`))
		expect(changed, 200, "", "")
		if changed.object.Spec.HolderIdentity != "b" || changed.object.Spec.LeaseTransitions != 1 || changed.object.Metadata.ResourceVersion == read.object.Metadata.ResourceVersion {
			t.Errorf("it was changed to %s", changed.body)
		}
		expect(ask("PUT", one, lease("one", seen, "")), 409, "Conflict", "the object has been modified")
		expect(ask("PUT", one, lease("one", "", "")), 422, "Invalid", "metadata.resourceVersion: Invalid value: 0: must be specified for an update")

		expect(ask("DELETE", one, ""), 200, "", "")
		expect(ask("DELETE", one, ""), 404, "NotFound", "")
		expect(ask("PUT", one, lease("one", seen, "")), 409, "Conflict", "UID in precondition: "+read.object.Metadata.UID+", UID in object meta: ")
		again := ask("PUT", one, lease("one", "", ""))
		expect(again, 201, "", "")
		if again.object.Metadata.UID == read.object.Metadata.UID {
			t.Error("a Lease that was deleted has come back as itself")
		}
	})))
}

// Invalid and unsupported requests are refused with the answers of a real server.
func TestRefusals(t *testing.T) {
	tr := RunWorld(t, apiWorld(requester(t, func(ask func(method, path, body string) response) {
		for _, test := range []struct {
			method, path, body string
			code               int
			says               string
		}{
			{"POST", all, "{", 400, "BadRequest"},
			{"POST", all, `{"kind":"Pod"}`, 400, "cannot be handled as a Lease"},
			{"POST", all, `{"apiVersion":"v1"}`, 400, "does not match the expected API version"},
			{"POST", all, lease("One", "", ""), 422, "a lowercase RFC 1123 subdomain"},
			{"POST", all, lease("", "", ""), 422, "metadata.name"},
			{"POST", all, lease("one", `,"namespace":"other"`, ""), 400, "does not match the namespace"},
			{"POST", all, lease("one", `,"resourceVersion":"7"`, ""), 500, "resourceVersion should not be set"},
			{"POST", all, lease("one", "", `"leaseDurationSeconds":0`), 422, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
			{"POST", all, lease("one", "", `"leaseTransitions":-1`), 422, "must be greater than or equal to 0"},
			{"POST", all, lease("one", "", `"renewTime":"yesterday"`), 400, "BadRequest"},
			{"PUT", one, lease("two", "", ""), 400, "the name of the object (two) does not match the name on the URL (one)"},
			{"GET", all, "", 405, "the server does not allow this method"},
			{"PATCH", one, "{}", 405, "the server does not allow this method"},
			{"GET", "/apis/coordination.k8s.io/v1/namespaces/default/leasecandidates/one", "", 404, "the server could not find the requested resource"},
			{"GET", "/api/v1/nodes", "", 404, "404 page not found"},
		} {
			if s := ask(test.method, test.path, test.body); s.code != test.code || !strings.Contains(s.body, test.says) {
				t.Errorf("%s %s %s: got %d %s, want %d %q", test.method, test.path, test.body, s.code, s.body, test.code, test.says)
			}
		}
	})))
	if len(tr.Doubts) == 0 || !strings.Contains(tr.Doubts[0], "which a real one may serve and this one does not") {
		t.Errorf("the run says of itself %q", tr.Doubts)
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
				r, err := http.NewRequestWithContext(ctx, ask[0], "http://"+p.Env().Nodes[0]+all+ask[1], strings.NewReader(ask[2]))
				if err != nil || r.Method == http.MethodConnect {
					t.Skip("net/http's client refuses it")
				}
				answer, err := transport.RoundTrip(r)
				if err != nil {
					continue // it has not left the client, or was not HTTP
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
func TestWhatIsNotServed(t *testing.T) {
	const by, unserved = "client-1 asked kubernetes-1 for ", ", which a real one may serve and this one does not"
	for _, test := range []struct{ method, path, body, want string }{
		{"GET", all, "", by + "GET " + all + unserved},
		{"GET", all + "?watch=true", "", by + "GET " + all + "?watch=true" + unserved},
		{"DELETE", all, "", by + "DELETE " + all + unserved},
		{"PATCH", one, "{}", by + "PATCH " + one + unserved},
		{"GET", one + "?resourceVersion=0", "", by + "GET " + one + "?resourceVersion=0" + unserved},
		{"PUT", one + "?dryRun=All", lease("one", "", ""), by + "PUT " + one + "?dryRun=All" + unserved},
		{"GET", "/api/v1/namespaces/default/configmaps/one", "", by + "GET /api/v1/namespaces/default/configmaps/one" + unserved},
		{"GET", "/version", "", by + "GET /version" + unserved},
		{"GET", one + "/status", "", by + "GET " + one + "/status" + unserved},
		{"DELETE", one, `{"dryRun":["All"]}`, "a client asked for a dry run of a deletion (dryRun), which a real API server supports and this one does not"},
		{"GET", one, "", ""},
		{"DELETE", one, "", ""},
		{"GET", one + "?timeout=5s", "", ""},
	} {
		tr := RunWorld(t, apiWorld(requester(t, func(ask func(method, path, body string) response) { ask(test.method, test.path, test.body) })))
		got := strings.Join(tr.Doubts, "; ")
		if (got == "") != (test.want == "") || test.want != "" && got != test.want {
			t.Errorf("%s %s: the run says of itself %q, want %q", test.method, test.path, got, test.want)
		}
	}
}
