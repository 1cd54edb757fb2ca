package http1

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/locksim/locksim/sim"
)

// requests are whole requests, each with the text and the content that the framer reads
// from it.
var requests = []struct{ bytes, text, content string }{
	{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /", ""},
	{"GET /v1/kv/a%20b?wait=5s&index=7 HTTP/1.1\nHost: a\n\n", "GET /v1/kv/a%20b?wait=5s&index=7", ""},
	{"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /", ""},
	{"GET / HTTP/1.0\r\n\r\n", "GET /", ""},
	{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /", ""},
	{"PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "PUT /a", "hello"},
	{"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6; x=y\r\n world\r\n0\r\n\r\n", "POST /a", "hello world"},
	{"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n", "POST /a", "!"},
	{"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\nGET / HTTP/1", "PUT /", "GET / HTTP/1"},
}

// malformed are bytes that are not a request, and the status of the answer.
var malformed = []struct {
	bytes  string
	status int
}{
	{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", http.StatusBadRequest},
	{"GET /\r\n", http.StatusBadRequest},
	{"GET / HTTP/1.1\r\n\r\n", http.StatusBadRequest},
	{"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", http.StatusBadRequest},
	{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", http.StatusBadRequest},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", http.StatusBadRequest},
	{"GET / HTTP/1.1\r\nHost: a\r\nno header\r\n\r\n", http.StatusBadRequest},
	{"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", http.StatusBadRequest},
	{"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", http.StatusBadRequest},
	{"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", http.StatusNotImplemented},
	{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", http.StatusHTTPVersionNotSupported},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 2*largestHeader) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
}

const maxTestBody = 16

// The requests do not depend on the pieces in which the bytes of a connection arrive. A
// part of a request is never taken for a whole one.
func TestFramerCutsRequests(t *testing.T) {
	var stream []byte
	for _, r := range requests {
		stream = append(stream, r.bytes...)
	}
	f := &Framer{LargestBody: maxTestBody}
	for _, want := range requests {
		for n := 1; n < len(want.bytes); n++ {
			if size, _ := f.Next([]byte(want.bytes[:n])); size != 0 {
				t.Fatalf("%q, a part of a request, is taken for a whole one", want.bytes[:n])
			}
		}
		size, frame := f.Next(stream)
		is, _ := frame.Body.(*Request)
		if size != len(want.bytes) || is == nil {
			t.Fatalf("%q: the first %d bytes are read as %T, want all of them as a *Request", want.bytes, size, frame.Body)
		}
		if frame.Text != want.text || string(is.Content) != want.content {
			t.Errorf("%q is read as %q with the content %q, want %q with %q", want.bytes, frame.Text, is.Content, want.text, want.content)
		}
		stream = stream[size:]
	}
}

// A malformed request is refused together with everything after it.
func TestFramerRefuses(t *testing.T) {
	tooLong := "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 17\r\n\r\n"
	chunks := "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
	all := append(malformed[:len(malformed):len(malformed)], []struct {
		bytes  string
		status int
	}{
		{tooLong, http.StatusRequestEntityTooLarge},
		{chunks + "11\r\n12345678901234567\r\n", http.StatusRequestEntityTooLarge},
		{chunks + "x\r\n", http.StatusBadRequest},
		{"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: a miracle\r\n\r\n", http.StatusExpectationFailed},
	}...)
	for _, want := range all {
		f := &Framer{LargestBody: maxTestBody}
		size, frame := f.Next([]byte(want.bytes))
		is, _ := frame.Body.(refusal)
		if size != len(want.bytes) || is.Status != want.status {
			t.Errorf("%.80q: %d bytes are read as %+v, want all of them refused with status %d", want.bytes, size, frame.Body, want.status)
		}
		if size, frame := f.Next([]byte(requests[0].bytes)); size == 0 || frame.Body != (refusal{}) {
			t.Errorf("%.80q: the next request is read as %+v, want an empty refusal", want.bytes, frame.Body)
		}
	}
}

// A client that has sent the header Expect: 100-continue gets the answer 100 Continue
// before it sends the body.
func TestFramerOfExpectContinue(t *testing.T) {
	header := "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
	f := &Framer{LargestBody: maxTestBody}
	size, frame := f.Next([]byte(header))
	if size != len(header) || frame.Body != (expectContinue{}) {
		t.Fatalf("the header is read as %d bytes, %+v; want %d bytes, expectContinue", size, frame.Body, len(header))
	}
	for _, part := range []string{"h", "hell"} {
		if size, _ := f.Next([]byte(part)); size != 0 {
			t.Fatalf("%q, a part of the body, is taken for a request", part)
		}
	}
	size, frame = f.Next([]byte("hello" + requests[0].bytes))
	if is, ok := frame.Body.(*Request); !ok || size != 5 || string(is.Content) != "hello" {
		t.Fatalf("the body is read as %d bytes, %+v; want a request of 5 bytes", size, frame.Body)
	}
	if size, frame = f.Next([]byte(requests[0].bytes)); size != len(requests[0].bytes) || frame.Text != requests[0].text {
		t.Errorf("the next request is read as %d bytes, %+v", size, frame)
	}
}

// Any bytes are cut in the same way whatever the sizes of the pieces are in which they
// arrive. The framer never panics.
func FuzzFramer(f *testing.F) {
	for _, r := range requests {
		f.Add([]byte(r.bytes+r.bytes[:len(r.bytes)/2]), uint8(3))
	}
	for _, n := range malformed {
		f.Add([]byte(n.bytes[:min(len(n.bytes), 100)]), uint8(1))
	}
	f.Add([]byte("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello"), uint8(7))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		whole := cut(t, &Framer{LargestBody: maxTestBody}, b, len(b))
		pieces := cut(t, &Framer{LargestBody: maxTestBody}, b, 1+int(piece))
		if whole != pieces {
			t.Fatalf("%q in pieces of %d bytes is read as\n%s\nand in one piece as\n%s", b, 1+int(piece), pieces, whole)
		}
	})
}

// cut passes bytes to a framer in pieces of a size, and returns the texts of its frames, up
// to the first refusal.
func cut(t *testing.T, f *Framer, b []byte, piece int) string {
	var text bytes.Buffer
	var arrived []byte
	for len(b) > 0 {
		n := min(piece, len(b))
		arrived, b = append(arrived, b[:n]...), b[n:]
		for len(arrived) > 0 {
			size, frame := f.Next(arrived)
			if size < 0 || size > len(arrived) {
				t.Fatalf("of %d bytes, %d are read as a request", len(arrived), size)
			}
			if size == 0 {
				break
			}
			text.WriteString(describeFrame(frame))
			if _, over := frame.Body.(refusal); over {
				return text.String()
			}
			arrived = arrived[size:]
		}
	}
	return text.String()
}

func describeFrame(frame sim.Frame) string {
	switch is := frame.Body.(type) {
	case *Request:
		return frame.Text + " with " + string(is.Content) + "\n"
	case refusal:
		return string(is.encode()) + "\n"
	}
	return frame.Text + "\n"
}
