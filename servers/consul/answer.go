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

// textPlain is the content type of errors.
const textPlain = "text/plain; charset=utf-8"

// queryHeaders returns the headers of the answer to a query. index is the number of the
// latest change that the answer includes.
func queryHeaders(index uint64) http.Header {
	return http.Header{
		"X-Consul-Index":         {strconv.FormatUint(max(index, 1), 10)},
		"X-Consul-Knownleader":   {"true"},
		"X-Consul-Lastcontact":   {"0"},
		"X-Consul-Query-Backend": {"blocking-query"},
	}
}

// withCommonHeaders returns the given headers together with those that every answer has.
func withCommonHeaders(headers http.Header) http.Header {
	h := http.Header{"Vary": {"Accept-Encoding"}, "X-Consul-Default-Acl-Policy": {"allow"}}
	for name, values := range headers {
		h[name] = values
	}
	return h
}

// respond answers a call with a value as JSON. text describes the answer in the trace.
// clientEvents are events that the trace records when the client has read the answer; see
// [sim.Packet].
func respond(call *http1.Call, value any, header http.Header, text string, clientEvents ...trace.Event) {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values are the server's own types
	}
	header = withCommonHeaders(header)
	header.Set("Content-Type", "application/json")
	call.Answer(http1.Answer{Status: http.StatusOK, Header: header, Body: b, Text: text, ClientEvents: clientEvents})
}

// refuse answers a call with an error.
func refuse(call *http1.Call, status int, why string) {
	h := http.Header{"Content-Type": {textPlain}}
	if endpoint, _ := route(call.URL.Path); endpoint != nil {
		h = withCommonHeaders(h)
	}
	call.Answer(http1.Answer{Status: status, Header: h, Body: []byte(why), Text: fmt.Sprintf("%d: %s", status, strings.TrimSpace(why))})
}
