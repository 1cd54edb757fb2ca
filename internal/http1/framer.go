package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/locksim/locksim/sim"
)

// largestHeader is the maximum length of the request line and the headers together, in
// bytes: http.DefaultMaxHeaderBytes plus the slack that net/http adds.
const largestHeader = http.DefaultMaxHeaderBytes + 4096

// A Framer cuts the bytes that a client writes on one connection into requests; see
// [sim.Framer]. Each request is one message. If the client writes something that is not
// HTTP, that and all bytes after it are one message.
type Framer struct {
	// LargestBody is the maximum length of a body, in bytes. A request with a longer body
	// is answered with the status 413, and the connection is closed.
	LargestBody int
	// Describe completes the frame of a request for the trace. When it is called, the text of
	// the frame is the method and the target. Describe may be nil.
	Describe func(*Request, *sim.Frame)

	// hasRefused reports whether a request was refused. All later bytes are ignored.
	hasRefused bool
	// minBytes is the least number of bytes with which the current request can be complete. With
	// fewer bytes, Next does not try to parse it.
	minBytes int
	// lastWasPost reports whether the latest request was a POST. Old clients write empty
	// lines after a POST.
	lastWasPost bool
	// pendingHeader is the header of a request whose body the client sends only after the
	// answer 100 Continue. Next has already returned it as a frame of its own, so Next puts
	// it before the body to parse both together.
	pendingHeader []byte
}

// expectContinue is the body of a frame that contains only the header of a request: the
// client waits for 100 Continue before it sends the body.
type expectContinue struct{}

// Next implements [sim.Framer].
func (f *Framer) Next(b []byte) (int, sim.Frame) {
	if f.hasRefused {
		return len(b), sim.Frame{Body: refusal{}, Text: "more bytes that are not HTTP/1.1"}
	}
	if len(b) < f.minBytes {
		return 0, sim.Frame{}
	}
	f.minBytes = 0
	all := b
	if f.pendingHeader != nil {
		all = slices.Concat(f.pendingHeader, b)
	}
	size, parsed := f.parse(all)
	size -= len(f.pendingHeader)
	switch parsed := parsed.(type) {
	case *Request:
		f.lastWasPost = parsed.Method == http.MethodPost
		f.pendingHeader = nil
		frame := sim.Frame{Body: parsed, Text: parsed.Method + " " + parsed.URL.RequestURI()}
		if f.Describe != nil {
			f.Describe(parsed, &frame)
		}
		return size, frame
	case expectContinue:
		f.pendingHeader = bytes.Clone(b[:size])
		return size, sim.Frame{Body: parsed, Text: "asks whether to send the body", Handshake: true}
	case refusal:
		f.hasRefused = true
		return len(b), sim.Frame{Body: parsed, Text: "a malformed request"}
	}
	return 0, sim.Frame{} // the request is not complete yet
}

// parse parses the request at the start of b and returns its size. The result is a
// [*Request], an expectContinue or a refusal. It is nil if the request is not complete yet.
func (f *Framer) parse(b []byte) (size int, parsed any) {
	src := &source{rest: b, limit: largestHeader}
	if f.lastWasPost {
		src.skipEmptyLines()
	}
	in := bufio.NewReader(src)
	request, err := http.ReadRequest(in)
	switch {
	case err != nil && src.exceededLimit:
		return len(b), refusal{Status: http.StatusRequestHeaderFieldsTooLarge}
	case err != nil && src.hasRunOut:
		return 0, nil
	case err != nil && strings.HasPrefix(err.Error(), "unsupported transfer encoding"):
		return len(b), refusal{Status: http.StatusNotImplemented, Text: "Unsupported transfer encoding"}
	case err != nil:
		return len(b), refusal{Status: http.StatusBadRequest}
	}
	position := func() int { return len(b) - len(src.rest) - in.Buffered() }
	if wrong := checkRequest(request, b[:position()]); wrong != nil {
		return len(b), *wrong
	}
	if request.ContentLength > int64(f.LargestBody) {
		return len(b), refusal{Status: http.StatusRequestEntityTooLarge}
	}
	if expects := request.Header.Get("Expect"); expects != "" && f.pendingHeader == nil {
		switch {
		case !strings.EqualFold(expects, "100-continue"):
			return len(b), refusal{Status: http.StatusExpectationFailed}
		case request.ProtoAtLeast(1, 1) && request.ContentLength != 0:
			return position(), expectContinue{}
		}
	}
	header := position()
	src.limit = -1
	content, err := io.ReadAll(io.LimitReader(request.Body, int64(f.LargestBody)+1))
	switch {
	case len(content) > f.LargestBody:
		return len(b), refusal{Status: http.StatusRequestEntityTooLarge}
	case err != nil && src.hasRunOut:
		if request.ContentLength > 0 {
			f.minBytes = header + int(request.ContentLength) - len(f.pendingHeader)
		}
		return 0, nil
	case err != nil:
		return len(b), refusal{Status: http.StatusBadRequest}
	}
	return position(), &Request{
		Method: request.Method, URL: request.URL, Header: request.Header, Content: content,
		wantsClose: request.Close, isHTTP10: !request.ProtoAtLeast(1, 1),
	}
}

// A source is the reader from which a request is parsed. It has only the bytes that the
// client has written so far.
type source struct {
	// rest is what has not been read yet.
	rest []byte
	// limit is how many bytes may still be read; a negative limit means no limit.
	limit int
	// hasRunOut reports that more bytes were wanted than the client has written.
	// exceededLimit reports that more bytes were wanted than limit allows.
	hasRunOut, exceededLimit bool
}

// Read implements [io.Reader].
func (s *source) Read(b []byte) (int, error) {
	if s.limit >= 0 && len(b) > s.limit {
		b = b[:s.limit]
	}
	switch {
	case len(b) == 0 && s.limit == 0:
		s.exceededLimit = true
		return 0, errors.New("the header is too long")
	case len(s.rest) == 0:
		s.hasRunOut = true
		return 0, io.EOF
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	if s.limit > 0 {
		s.limit -= n
	}
	return n, nil
}

// skipEmptyLines skips the empty lines that old clients write after a POST. It skips at
// most four bytes, as readRequest in
// https://github.com/golang/go/blob/master/src/net/http/server.go does.
func (s *source) skipEmptyLines() {
	for range 4 {
		if len(s.rest) > 0 && (s.rest[0] == '\r' || s.rest[0] == '\n') {
			s.rest = s.rest[1:]
		}
	}
}

// checkRequest returns the refusal with which net/http's server answers a well-formed request
// that it does not accept; nil if it accepts the request. header is the request line and the
// headers. See readRequest in net/http's server.go.
func checkRequest(r *http.Request, header []byte) *refusal {
	hosts := hostValues(header)
	switch {
	case r.ProtoMajor != 1:
		return &refusal{Status: http.StatusHTTPVersionNotSupported, Reason: "unsupported protocol version"}
	case r.ProtoAtLeast(1, 1) && len(hosts) == 0 && r.Method != http.MethodConnect:
		return &refusal{Status: http.StatusBadRequest, Reason: "missing required Host header"}
	case len(hosts) > 1:
		return &refusal{Status: http.StatusBadRequest, Reason: "too many Host headers"}
	case len(hosts) == 1 && strings.ContainsFunc(hosts[0], isInvalidInHost):
		return &refusal{Status: http.StatusBadRequest, Reason: "malformed Host header"}
	}
	for _, values := range r.Header {
		if slices.ContainsFunc(values, func(v string) bool { return strings.ContainsFunc(v, isControl) }) {
			return &refusal{Status: http.StatusBadRequest, Reason: "invalid header value"}
		}
	}
	return nil
}

// hostValues returns the values of all Host headers. http.ReadRequest keeps only the first.
func hostValues(header []byte) (all []string) {
	for line := range strings.Lines(string(header)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Host") {
			all = append(all, strings.TrimSpace(value))
		}
	}
	return all
}

// isInvalidInHost reports whether a character may not occur in a Host header: the rule of
// ValidHostHeader in https://pkg.go.dev/golang.org/x/net/http/httpguts.
func isInvalidInHost(c rune) bool {
	letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	return !letter && !strings.ContainsRune("!$%&'()*+,-.:;=[]_~", c)
}

// isControl reports whether a character may not occur in any header: the rule of
// ValidHeaderFieldValue in the same package.
func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
