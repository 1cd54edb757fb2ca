// Package http1 is HTTP/1.1 as a simulated server speaks it: what a client writes on one
// connection is cut into whole requests, and each is answered, at once or later, in the
// order in which they came. What the requests mean is the server's business.
//
// It answers as net/http's own server does, also what is no HTTP; its tests hold it against
// that. It differs in this: a request reaches the server when all of it is there, so that a
// body is never read in part, and answers have a Content-Length, whatever their length.
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

// A Request is a request, whole.
type Request struct {
	Method string
	// URL is the target: the path and the query, and the host only where the request line
	// has it.
	URL *url.URL
	// Header is without the Host.
	Header http.Header
	// Content is the body, without chunks.
	Content []byte

	closes bool // the client asks for the connection to be closed after the answer
	old    bool // HTTP/1.0
}

// An Answer is what a server says to a request.
type Answer struct {
	Status int
	// Header is without what is said of every answer: its date, its length, and whether the
	// connection is closed.
	Header http.Header
	Body   []byte
	// Text is the answer for people; "" is its status.
	Text string
	// Learns is as in [sim.Packet].
	Learns []trace.Event
}

// A refusal is what a server says to what it cannot read as a request; the connection is over
// then.
type refusal struct {
	Status int
	// Why is added to the status; Text is the body in its place.
	Why, Text string
}

// write writes an answer as net/http does. A connection of HTTP/1.0 lives on only if its
// client has asked for that.
func (a Answer) write(to *Request, now time.Time) []byte {
	h := http.Header{}
	for name, values := range a.Header {
		h[name] = values
	}
	h.Set("Date", now.UTC().Format(http.TimeFormat))
	if to.old && !to.closes {
		h.Set("Connection", "keep-alive")
	}
	var b bytes.Buffer
	minor := 1
	if to.old {
		minor = 0
	}
	r := http.Response{
		StatusCode: a.Status, ProtoMajor: 1, ProtoMinor: minor, Header: h, Close: to.closes && !to.old,
		Request:       &http.Request{Method: to.Method},
		ContentLength: int64(len(a.Body)), Body: io.NopCloser(bytes.NewReader(a.Body)),
	}
	if len(a.Body) == 0 {
		r.Body = http.NoBody
	}
	_ = r.Write(&b) // to a buffer
	return b.Bytes()
}

// write writes a refusal: serve in
// https://github.com/golang/go/blob/master/src/net/http/server.go
func (r refusal) write() []byte {
	status := fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))
	if r.Why != "" {
		status += ": " + r.Why
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
