// Package http1 implements HTTP/1.1 for simulated servers. It cuts what a client writes on
// one connection into whole requests, and sends an answer to each, immediately or later, in
// the order of the requests. The server decides what the requests mean.
//
// It answers as net/http's own server does, also to malformed requests, and its tests
// compare the two. There are two differences: a request reaches the server when all of it
// has arrived, so a body is never read in part; and each answer has a Content-Length,
// whatever its length.
package http1

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/locksim/locksim/trace"
)

// A Request is one whole request.
type Request struct {
	Method string
	// URL is the target: the path and the query. It has a host only if the request line has
	// one.
	URL *url.URL
	// Header does not contain Host.
	Header http.Header
	// Content is the body; chunks have been joined.
	Content []byte

	wantsClose bool // the client wants the connection to be closed after the answer
	isHTTP10   bool // HTTP/1.0
}

// An Answer is a server's answer to a request.
type Answer struct {
	Status int
	// Header does not contain what every answer has: its date, its length, and whether the
	// connection is closed.
	Header http.Header
	Body   []byte
	// Text describes the answer for people; if it is empty, the status does.
	Text string
	// Learns is as in [sim.Packet].
	Learns []trace.Event
}

// A refusal is a server's answer to bytes that it cannot read as a request. It ends the
// connection.
type refusal struct {
	Status int
	// Reason is added to the status; Text, if there is one, is the body in place of the
	// status.
	Reason, Text string
}

// encode writes an answer as net/http does. A connection of HTTP/1.0 stays open only if its
// client has asked for that.
func (a Answer) encode(request *Request, now time.Time) []byte {
	h := http.Header{}
	for name, values := range a.Header {
		h[name] = values
	}
	h.Set("Date", now.UTC().Format(http.TimeFormat))
	if request.isHTTP10 && !request.wantsClose {
		h.Set("Connection", "keep-alive")
	}
	var b bytes.Buffer
	minor := 1
	if request.isHTTP10 {
		minor = 0
	}
	r := http.Response{
		StatusCode: a.Status, ProtoMajor: 1, ProtoMinor: minor, Header: h, Close: request.wantsClose && !request.isHTTP10,
		Request:       &http.Request{Method: request.Method},
		ContentLength: int64(len(a.Body)), Body: io.NopCloser(bytes.NewReader(a.Body)),
	}
	if len(a.Body) == 0 {
		r.Body = http.NoBody
	}
	_ = r.Write(&b) // a buffer does not fail
	return b.Bytes()
}

// encode writes a refusal, as serve in
// https://github.com/golang/go/blob/master/src/net/http/server.go does.
func (r refusal) encode() []byte {
	status := fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
	if r.Reason != "" {
		status += ": " + r.Reason
	}
	if r.Status == http.StatusExpectationFailed {
		return []byte("HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	}
	text := status
	if r.Text != "" {
		text = r.Text
	}
	return []byte("HTTP/1.1 " + status + "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" + text)
}
