package kubernetes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/sim"
)

// A target is what the path of a request names: one Lease, or all Leases of a namespace if
// name is "".
type target struct{ namespace, name string }

const (
	api  = "/apis/" + group + "/" + version + "/"
	root = api + "namespaces/"
)

// parseTarget parses a path; false if the path names no Leases.
func parseTarget(path string) (target, bool) {
	rest, ok := strings.CutPrefix(path, root)
	words := strings.Split(rest, "/")
	switch {
	case !ok, len(words) < 2, len(words) > 3, words[1] != resource, !isLabel(words[0]):
		return target{}, false
	case len(words) == 2:
		return target{namespace: words[0]}, true
	}
	return target{words[0], words[2]}, words[2] != ""
}

// answer executes a request and returns the answer.
func (n *node) answer(call *http1.Call) http1.Answer {
	at, ok := parseTarget(call.URL.Path)
	if !ok {
		n.reportUnserved(call)
		if strings.HasPrefix(call.URL.Path, api) {
			return genericStatus(http.StatusNotFound).answer()
		}
		return http1.Answer{
			Status: http.StatusNotFound, Body: []byte("404 page not found\n"),
			Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}},
		}
	}
	for _, option := range slices.Sorted(maps.Keys(call.URL.Query())) {
		// The option timeout does not matter, because this server answers immediately. The
		// option fieldManager only matters for managedFields.
		if option != "timeout" && option != "fieldManager" {
			n.reportUnserved(call)
		}
	}
	if strings.Contains(call.Header.Get("Accept"), "as=") {
		n.reportUnserved(call) // the client asks for a table, or for metadata only
	}
	if accepts := call.Header.Get("Accept"); accepts != "" && !strings.Contains(accepts, "json") && !strings.Contains(accepts, "*") {
		n.reportUnserved(call)
		return genericStatus(http.StatusNotAcceptable).answer()
	}
	if kind := call.Header.Get("Content-Type"); len(call.Content) > 0 && kind != "" && !strings.HasPrefix(kind, "application/json") {
		n.reportUnserved(call)
		return genericStatus(http.StatusUnsupportedMediaType).answer()
	}
	switch {
	case call.Method == http.MethodGet && at.name != "":
		if stored := n.leases.stored[key(at.namespace, at.name)]; stored != nil {
			return jsonAnswer(http.StatusOK, stored.lease, describeLease(n.host.Names(), stored.lease))
		}
		return notFound(at.name).answer()
	case call.Method == http.MethodPost && at.name == "", call.Method == http.MethodPut && at.name != "":
		return n.write(call, at)
	case call.Method == http.MethodDelete && at.name != "":
		return n.leases.remove(at.namespace, at.name, call.Content, call.By()).answer()
	}
	n.reportUnserved(call)
	return genericStatus(http.StatusMethodNotAllowed).answer()
}

// reportUnserved makes the run inconclusive: a client has sent a request that a real server
// may answer differently.
func (n *node) reportUnserved(call *http1.Call) {
	n.host.Doubt(fmt.Sprintf("%s asked %s for %s %s, which a real API server may serve and this one does not",
		call.Peer(), n.host.Node().Name, call.Method, describeURL(n.host.Names(), call.URL)))
}

// describeURL returns the text of a URL for the trace. Random words are replaced by names.
func describeURL(names *sim.Names, u *url.URL) string {
	parts := strings.Split(u.Path, "/")
	for i, part := range parts {
		if part != "" && part != group {
			parts[i] = names.Value(part)
		}
	}
	text, sign := strings.Join(parts, "/"), "?"
	for _, option := range slices.Sorted(maps.Keys(u.Query())) {
		text += sign + names.Value(option) + "=" + names.Value(u.Query().Get(option))
		sign = "&"
	}
	return text
}

// write creates or updates a Lease.
func (n *node) write(call *http1.Call, at target) http1.Answer {
	l, bad := parseLease(call.Content)
	code := http.StatusCreated
	switch {
	case bad != nil:
	case at.name == "":
		l, bad = n.leases.create(at.namespace, l, call.By())
	default:
		l, code, bad = n.leases.update(at.namespace, at.name, l, call.By())
	}
	if bad != nil {
		return bad.answer()
	}
	a := jsonAnswer(code, l, describeLease(n.host.Names(), l))
	a.ClientEvents = n.leases.aliveEvents(l)
	return a
}

// describe sets the text of a request in the trace. It also says whether the request is a
// keep-alive: a write that renews a Lease which its holder has acquired earlier.
func describe(names *sim.Names, r *http1.Request, f *sim.Frame) {
	at, ok := parseTarget(r.URL.Path)
	if !ok {
		return
	}
	f.Text = r.Method + " " + resource + " " + names.Value(at.namespace)
	if at.name != "" {
		f.Text += "/" + names.Value(at.name)
	}
	if r.Method != http.MethodPost && r.Method != http.MethodPut {
		return
	}
	l := &lease{}
	if json.Unmarshal(r.Content, l) != nil {
		return
	}
	f.Text += ": " + describeLease(names, l)
	if a, b := l.Spec.Acquired, l.Spec.Renewed; l.holder() != "" && a != nil && b != nil {
		f.KeepAlive = !a.Equal(b.Time)
	}
}

// describeLease returns the text of a Lease for the trace.
func describeLease(names *sim.Names, l *lease) string {
	text := "held by nobody"
	if holder := l.holder(); holder != "" {
		text = "held by " + names.Value(holder)
	}
	if n := l.Spec.Transitions; n != nil {
		text += fmt.Sprintf(", %d transitions", *n)
	}
	if v := l.Metadata.ResourceVersion; v != "" {
		text += ", version " + names.Value(v)
	}
	return text
}
