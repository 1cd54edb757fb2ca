package consul

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/http1"
)

// An endpoint is one path of the API.
type endpoint struct {
	path    string // a path that ends in a slash is followed by a name
	methods []string
	// needsLeader: a request needs a leader.
	needsLeader bool
	// parameters are those that it understands, apart from those that all endpoints
	// understand.
	parameters []string
	// missing is the error for a path without a name; "" means that none is needed.
	missing string
	serve   func(s *server, call *http1.Call, rest string)
}

var get, put = []string{http.MethodGet}, []string{http.MethodPut}

// queryParameters are the parameters of a query that can wait.
var queryParameters = []string{"index", "wait", "consistent", "stale"}

var endpoints []endpoint

func init() {
	endpoints = []endpoint{
		{"/v1/kv/", []string{http.MethodGet, http.MethodPut, http.MethodDelete}, true, append([]string{"flags", "cas", "acquire", "release", "recurse"}, queryParameters...), "", (*server).kv},
		{"/v1/session/create", put, true, nil, "", (*server).createSession},
		{"/v1/session/destroy/", put, true, nil, "Missing session", (*server).destroySession},
		{"/v1/session/renew/", put, true, queryParameters, "Missing session", (*server).renewSession},
		{"/v1/session/info/", get, true, queryParameters, "Missing session", (*server).sessionInfo},
		{"/v1/status/leader", get, false, nil, "", (*server).leader},
	}
}

// route returns the endpoint for a path, and the rest of the path; nil if there is none.
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

// refusePath answers a request for a path that is not served. A real server serves most
// paths under /v1/.
func (s *server) refusePath(call *http1.Call) {
	if path := call.URL.Path; path == "/" || path == "/ui" || strings.HasPrefix(path, "/ui/") {
		s.doubt(call, call.Method+" "+path)
	}
	if !strings.Contains(call.URL.Path, "/v1/") {
		refuse(call, http.StatusNotFound, "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n")
		return
	}
	parts := strings.Split(call.URL.Path, "/")
	for i, part := range parts {
		parts[i] = s.host.Names().Value(part) // it may be a random word
	}
	s.doubt(call, call.Method+" "+strings.Join(parts, "/"))
	refuse(call, http.StatusNotFound, "Invalid URL path: not a recognized HTTP API endpoint\n")
}

// checkParameters reports whether the server can serve a request. If a real server would do
// something for it that this one does not, it refuses the request, because any other answer
// would be wrong.
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

// refuseUnknown refuses a request with a parameter that only a real server understands.
func (s *server) refuseUnknown(call *http1.Call, path, parameter string) {
	s.doubt(call, call.Method+" "+path+" with "+parameter)
	refuse(call, http.StatusInternalServerError, parameter+" is not simulated")
}

func (s *server) doubt(call *http1.Call, what string) {
	s.host.Doubt(fmt.Sprintf("%s asked %s for %s, which a real Consul server may answer differently", call.Peer(), s.host.Node().Name, what))
}

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

// leader answers with the address of the leader.
func (s *server) leader(call *http1.Call, _ string) {
	if !s.isLeader {
		respond(call, "", nil, "nobody")
		return
	}
	respond(call, "127.0.0.1:8300", nil, "I do")
}
