package postgres

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A framer splits a client's bytes into requests. A request is everything that the client
// sends before it expects a reply. Faults act on whole requests.
type framer struct {
	// names replaces random values in the texts of requests by names that are equal in
	// every run.
	names     *sim.Names
	isStarted bool // the client has sent its StartupMessage
	// statements are the texts of the prepared statements, by name.
	statements map[string]string
}

// A request is a group of messages that the server answers together.
type request struct {
	startup  pgproto3.FrontendMessage // the first message of a connection, or nil
	messages []pgproto3.FrontendMessage
	bad      string // why the request is malformed, or ""
}

// The greatest lengths of messages in bytes. maxStartup is PostgreSQL's own limit.
const (
	maxStartup = 10_000
	maxMessage = 1 << 20
)

// A first message that is not a StartupMessage begins with one of these codes.
const (
	cancelCode = 80877102
	sslCode    = 80877103
	gssCode    = 80877104
)

// badFrame returns all of b as one malformed request.
func badFrame(b []byte, why string) (int, sim.Frame) {
	return len(b), sim.Frame{Body: &request{bad: why}, Text: "a malformed request"}
}

// Next is as in [sim.Framer]: it returns the size and the contents of the first request in
// b. Size 0 means that the request is not complete yet.
func (f *framer) Next(b []byte) (int, sim.Frame) {
	if !f.isStarted {
		return f.firstMessage(b)
	}
	q := &request{}
	t := requestText{f: f}
	for size := 0; ; {
		const header = 5
		rest := b[size:]
		if len(rest) < header {
			return 0, sim.Frame{}
		}
		n := binary.BigEndian.Uint32(rest[1:])
		if n < 4 || n > maxMessage {
			return badFrame(b, "invalid message length")
		}
		if uint32(len(rest)-1) < n {
			return 0, sim.Frame{}
		}
		newEmpty := messageTypes[rest[0]]
		if newEmpty == nil {
			return badFrame(b, fmt.Sprintf("invalid frontend message type %d", rest[0]))
		}
		m := newEmpty()
		size += 1 + int(n)
		// Decode keeps references to the bytes, but they belong to the caller of Next.
		if err := m.Decode(bytes.Clone(rest[header : 1+n])); err != nil {
			q.bad = "invalid message format"
			return size, sim.Frame{Body: q, Text: "a malformed request"}
		}
		q.messages = append(q.messages, m)
		t.add(m)
		switch m.(type) {
		case *pgproto3.Parse, *pgproto3.Bind, *pgproto3.Describe, *pgproto3.Execute, *pgproto3.Close:
			continue // the client expects an answer only after a later message
		}
		return size, sim.Frame{Body: q, Text: t.text(), Handshake: len(t.actions) == 0}
	}
}

// firstMessage parses the first message of a connection, which is the only kind without a
// type byte.
func (f *framer) firstMessage(b []byte) (int, sim.Frame) {
	if len(b) < 4 {
		return 0, sim.Frame{}
	}
	n := binary.BigEndian.Uint32(b)
	if n < 8 || n > maxStartup {
		return badFrame(b, "invalid length of startup packet")
	}
	if len(b) < int(n) {
		return 0, sim.Frame{}
	}
	body := bytes.Clone(b[4:n])
	var m pgproto3.FrontendMessage
	text, minor := "", uint32(0)
	switch code := binary.BigEndian.Uint32(body); {
	case code == sslCode:
		m, text = &pgproto3.SSLRequest{}, "asks for TLS"
	case code == gssCode:
		m, text = &pgproto3.GSSEncRequest{}, "asks for GSS"
	case code == cancelCode:
		m, text = &pgproto3.CancelRequest{}, trace.CancelPrefix
	case code>>16 == 3:
		f.isStarted = true
		m, text = &pgproto3.StartupMessage{}, "startup"
		// The server negotiates the minor version.
		minor = code & 0xffff
		binary.BigEndian.PutUint32(body, pgproto3.ProtocolVersion30)
	default:
		return badFrame(b, "unsupported frontend protocol")
	}
	if err := m.Decode(body); err != nil {
		return int(n), sim.Frame{Body: &request{bad: "invalid startup packet layout"}, Text: "a malformed request"}
	}
	if m, is := m.(*pgproto3.StartupMessage); is {
		m.ProtocolVersion |= minor
	}
	return int(n), sim.Frame{Body: &request{startup: m}, Text: text, Handshake: text != trace.CancelPrefix}
}

// messageTypes maps the type byte of a message to a func that returns an empty message of
// that type.
var messageTypes = map[byte]func() pgproto3.FrontendMessage{
	'B': newMessage[pgproto3.Bind], 'C': newMessage[pgproto3.Close], 'D': newMessage[pgproto3.Describe], 'E': newMessage[pgproto3.Execute],
	'F': newMessage[pgproto3.FunctionCall], 'f': newMessage[pgproto3.CopyFail], 'd': newMessage[pgproto3.CopyData], 'c': newMessage[pgproto3.CopyDone],
	'H': newMessage[pgproto3.Flush], 'P': newMessage[pgproto3.Parse], 'p': newMessage[pgproto3.PasswordMessage], 'Q': newMessage[pgproto3.Query],
	'S': newMessage[pgproto3.Sync], 'X': newMessage[pgproto3.Terminate],
}

func newMessage[M any, P interface {
	*M
	pgproto3.FrontendMessage
}]() pgproto3.FrontendMessage {
	return P(new(M))
}

// A requestText builds the text that the trace shows for a request. If the request executes
// something, the text is actions, and otherwise preparations.
type requestText struct {
	f            *framer
	preparations []string
	actions      []string
}

// add adds a message of the request.
func (t *requestText) add(m pgproto3.FrontendMessage) {
	switch m := m.(type) {
	case *pgproto3.Query:
		t.actions = append(t.actions, shorten(m.String))
	case *pgproto3.Parse:
		t.f.statements[m.Name] = m.Query
		if m.Name != "" {
			t.preparations = append(t.preparations, "prepare "+shorten(m.Query))
		}
	case *pgproto3.Bind:
		text := shorten(t.f.statements[m.PreparedStatement])
		var words []string
		for i, p := range m.Parameters {
			format := textFormat
			if n := len(m.ParameterFormatCodes); n == 1 || i < n {
				format = m.ParameterFormatCodes[min(i, n-1)]
			}
			words = append(words, t.describeParameter(p, format))
		}
		if len(words) > 0 {
			text += " [" + strings.Join(words, ", ") + "]"
		}
		t.actions = append(t.actions, text)
	case *pgproto3.Terminate:
		t.actions = append(t.actions, trace.EndOfConnection)
	case *pgproto3.Close:
		t.preparations = append(t.preparations, "close a statement")
	}
}

func (t *requestText) text() string {
	if len(t.actions) > 0 {
		return strings.Join(t.actions, "; ")
	}
	return strings.Join(t.preparations, "; ")
}

// describeParameter returns a parameter as the trace shows it. A binary parameter does not
// carry its type, so its length decides: 4 and 8 bytes are an integer, and 16 bytes are an
// interval.
func (t *requestText) describeParameter(b []byte, format int16) string {
	switch {
	case b == nil:
		return "NULL"
	case format == textFormat && utf8.Valid(b):
		return t.f.names.Value(string(b))
	case len(b) == 4:
		return strconv.Itoa(int(int32(binary.BigEndian.Uint32(b))))
	case len(b) == 8:
		return strconv.FormatInt(int64(binary.BigEndian.Uint64(b)), 10)
	case len(b) == 16:
		return formatValue(decode(b, intervalType, binaryFormat))
	}
	return fmt.Sprint(len(b), " bytes")
}

// shorten returns a statement as one line of at most 60 characters.
func shorten(text string) string {
	const most = 60
	line := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "))
	if len(line) > most {
		return strings.TrimRight(string(line[:most]), " ,(") + "…"
	}
	return string(line)
}
