package consul

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/http1"
	"github.com/locksim/locksim/trace"
)

const textPlain = "text/plain; charset=utf-8"

// queryHeaders returns the headers of a query's answer: among them the index up to which
// the server has read.
func queryHeaders(index uint64) http.Header {
	return http.Header{
		"X-Consul-Index":         {strconv.FormatUint(max(index, 1), 10)},
		"X-Consul-Knownleader":   {"true"},
		"X-Consul-Lastcontact":   {"0"},
		"X-Consul-Query-Backend": {"blocking-query"},
	}
}

// withCommonHeaders adds the headers that all answers have.
func withCommonHeaders(some http.Header) http.Header {
	h := http.Header{"Vary": {"Accept-Encoding"}, "X-Consul-Default-Acl-Policy": {"allow"}}
	for name, values := range some {
		h[name] = values
	}
	return h
}

// respond answers with a value as JSON. learns are the events that the trace records when
// the client has read the answer; see [sim.Packet].
func respond(call *http1.Call, value any, header http.Header, text string, learns ...trace.Event) {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values are the server's own types
	}
	header = withCommonHeaders(header)
	header.Set("Content-Type", "application/json")
	call.Answer(http1.Answer{Status: http.StatusOK, Header: header, Body: b, Text: text, Learns: learns})
}

// refuse answers with an error.
func refuse(call *http1.Call, status int, why string) {
	h := http.Header{"Content-Type": {textPlain}}
	if endpoint, _ := route(call.URL.Path); endpoint != nil {
		h = withCommonHeaders(h)
	}
	call.Answer(http1.Answer{Status: status, Header: h, Body: []byte(why), Text: fmt.Sprintf("%d: %s", status, strings.TrimSpace(why))})
}
