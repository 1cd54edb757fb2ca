package consul

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/http1"
)

// An endpoint is one path of the HTTP API, with the function that serves it.
type endpoint struct {
	path    string // if it ends in a slash, a name follows in the request
	methods []string
	// needsLeader reports whether a request waits until the server is the leader.
	needsLeader bool
	// parameters are the parameters of this endpoint that not every endpoint has.
	parameters []string
	// missingNameError is the error for a request without a name after the path; "" if it
	// needs no name.
	missingNameError string
	// serve answers a call; rest is what follows path.
	serve func(s *server, call *http1.Call, rest string)
}

// The methods of an endpoint that only reads, and of one that only changes.
var getOnly, putOnly = []string{http.MethodGet}, []string{http.MethodPut}

// queryParameters are the parameters that all reads of keys and sessions understand. The first two
// make a read wait for a change. Consul parses all four for a renewal, too.
var queryParameters = []string{"index", "wait", "consistent", "stale"}

// endpoints are the paths that are served. They are set in init, because the functions that
// serve them refer to this list.
var endpoints []endpoint

func init() {
	endpoints = []endpoint{
		{"/v1/kv/", []string{http.MethodGet, http.MethodPut, http.MethodDelete}, true, append([]string{"flags", "cas", "acquire", "release", "recurse"}, queryParameters...), "", (*server).serveKey},
		{"/v1/session/create", putOnly, true, nil, "", (*server).createSession},
		{"/v1/session/destroy/", putOnly, true, nil, "Missing session", (*server).destroySession},
		{"/v1/session/renew/", putOnly, true, queryParameters, "Missing session", (*server).renewSession},
		{"/v1/session/info/", getOnly, true, queryParameters, "Missing session", (*server).sessionInfo},
		{"/v1/status/leader", getOnly, false, nil, "", (*server).serveLeader},
	}
}

// route returns the endpoint that serves a path, and the rest of the path after it. The endpoint is
// nil if no endpoint serves the path.
func route(path string) (*endpoint, string) {
	for i, e := range endpoints {
		rest, found := strings.CutPrefix(path, e.path)
		if found && (rest == "" || strings.HasSuffix(e.path, "/")) {
			return &endpoints[i], rest
		}
	}
	return nil, ""
}

// datacenter is the default name of a datacenter.
const datacenter = "dc1"

// refusePath answers a request for a path that this server does not serve. A real server
// serves most paths under /v1/, so such a request makes the run inconclusive.
func (s *server) refusePath(call *http1.Call) {
	if path := call.URL.Path; path == "/" || path == "/ui" || strings.HasPrefix(path, "/ui/") {
		s.reportUnserved(call, call.Method+" "+path)
	}
	if !strings.Contains(call.URL.Path, "/v1/") {
		refuse(call, http.StatusNotFound, "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n")
		return
	}
	parts := strings.Split(call.URL.Path, "/")
	for i, part := range parts {
		parts[i] = s.host.Names().Value(part) // a random word, such as a session ID, is replaced by a name that is equal in every run
	}
	s.reportUnserved(call, call.Method+" "+strings.Join(parts, "/"))
	refuse(call, http.StatusNotFound, "Invalid URL path: not a recognized HTTP API endpoint\n")
}

// checkParameters reports whether this server can serve a request with its parameters. If a
// real server knows a parameter that this one does not, it refuses the request: an answer
// that ignores the parameter would be wrong.
func (s *server) checkParameters(call *http1.Call, e *endpoint) bool {
	if dc := call.URL.Query().Get("dc"); dc != "" && dc != datacenter {
		s.refuseUnknown(call, e.path, "dc="+dc)
		return false
	}
	for _, name := range []string{"cached", "filter", "hash", "keys", "max_stale", "ns", "partition", "peer", "raw", "recurse", "sameness-group", "separator", "seperator"} {
		if call.URL.Query().Has(name) && !slices.Contains(e.parameters, name) {
			s.refuseUnknown(call, e.path, name)
			return false
		}
	}
	return true
}

// refuseUnknown refuses a request with a parameter that a real server knows and this one
// does not.
func (s *server) refuseUnknown(call *http1.Call, path, parameter string) {
	s.reportUnserved(call, call.Method+" "+path+" with "+parameter)
	refuse(call, http.StatusInternalServerError, parameter+" is not simulated")
}

// reportUnserved makes the run inconclusive: a client has asked for something that a real
// server may answer differently.
func (s *server) reportUnserved(call *http1.Call, feature string) {
	s.host.Doubt(fmt.Sprintf("%s asked %s for %s, which a real Consul server may answer differently", call.Peer(), s.host.Node().Name, feature))
}

// refuseMethod answers a request whose method the endpoint does not serve. OPTIONS is
// answered with the list of methods, and any other method with an error.
func (e *endpoint) refuseMethod(call *http1.Call) {
	allowed := append([]string{http.MethodOptions}, e.methods...)
	h := withCommonHeaders(http.Header{"Allow": {strings.Join(allowed, ",")}})
	if call.Method == http.MethodOptions {
		h.Set("Content-Type", "application/json")
		call.Answer(http1.Answer{Status: http.StatusOK, Header: h})
		return
	}
	text := "method " + call.Method + " not allowed"
	h.Set("Content-Type", textPlain)
	call.Answer(http1.Answer{Status: http.StatusMethodNotAllowed, Header: h, Body: []byte(text), Text: "405: " + text})
}

// serveLeader answers the question who the leader is: with its address, or with "" if there
// is none. The last argument of respond is the text in the trace.
func (s *server) serveLeader(call *http1.Call, _ string) {
	if !s.isLeader {
		respond(call, "", nil, "no leader")
		return
	}
	respond(call, "127.0.0.1:8300", nil, "this server leads")
}
