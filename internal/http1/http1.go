// Package http1 implements HTTP/1.1 for simulated servers. It cuts the bytes that a client
// writes on one connection into whole requests. It passes each request to the server, and
// sends the server's answers in the order of the requests.
//
// It answers as net/http's own server does, also to malformed requests, and its tests compare the
// two. There are two differences. A request is passed to the server only when all of it has
// arrived, so a server never sees a part of a body. And each answer has a Content-Length, however
// long its body is.
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
	// URL is the target of the request: its path and query. It has a host only if the
	// request line contains one.
	URL *url.URL
	// Header has the headers of the request without Host.
	Header http.Header
	// Content is the body. If the client has sent it in chunks, they are joined.
	Content []byte

	wantsClose bool // the client wants the connection to be closed after the answer
	isHTTP10   bool // the request is of HTTP/1.0
}

// An Answer is a server's answer to a request.
type Answer struct {
	Status int
	// Header has the headers of the answer except those that every answer has: its date,
	// its length, and whether the connection is closed.
	Header http.Header
	Body   []byte
	// Text describes the answer in the trace. If it is empty, the status is shown instead.
	Text string
	// ClientEvents are the events that the trace records when the client has read the
	// answer; see [sim.Packet].
	ClientEvents []trace.Event
}

// A refusal is a server's answer to bytes that it cannot read as a request. It ends the
// connection.
type refusal struct {
	Status int
	// Reason is added to the text of the status. Text is the body; if it is empty, the text
	// of the status is the body.
	Reason, Text string
}

// encode returns the bytes of an answer, as net/http writes them. The answer to a request of
// HTTP/1.0 says that the connection stays open, if the client has asked for that.
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

// encode returns the bytes of a refusal, as serve in
// https://github.com/golang/go/blob/master/src/net/http/server.go writes them.
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
