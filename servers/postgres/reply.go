package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locksim/locksim/servers/postgres/internal/sql"
	"github.com/locksim/locksim/sim"
)

// A reply is what the server sends to a client in reply to one request: bytes for the
// client and texts for the trace.
type reply struct {
	out   []byte
	texts []string
}

// send appends a message. A message that is too long becomes an error.
func (a *reply) send(m pgproto3.BackendMessage) {
	out, err := m.Encode(a.out)
	if err != nil {
		out, _ = (&pgproto3.ErrorResponse{Severity: "ERROR", Code: "54000", Message: "the answer is too long"}).Encode(a.out)
	}
	a.out = out
}

// addText appends a part of the text that the trace shows.
func (a *reply) addText(text string) { a.texts = append(a.texts, text) }

func (a *reply) sendNotice(severity, code, text string) {
	a.send(&pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: text})
	a.addText(severity + ": " + text)
}

func (a *reply) sendError(severity string, o *sql.Error) {
	a.send(&pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: o.Code, Message: o.Message})
	a.addText(severity + " " + o.Code + ": " + o.Message)
}

// flush sends the reply over a client's connection and empties it. r is the request that it
// answers, or nil. Nothing is sent if the reply is empty or the connection is nil.
func (a *reply) flush(s *server, clientEnd *sim.End, r *sim.Request) {
	if len(a.out) > 0 && clientEnd != nil {
		p := sim.Packet{Bytes: a.out, Text: strings.Join(a.texts, "; ")}
		s.out.Send(func() {
			if r == nil {
				clientEnd.Send(p)
			} else {
				clientEnd.ReplyTo(r, p)
			}
		})
	}
	*a = reply{}
}

// reportedSettings are the settings that the server reports to a client when it connects.
var reportedSettings = []string{
	"application_name", "client_encoding", "DateStyle", "default_transaction_read_only", "in_hot_standby", "integer_datetimes",
	"IntervalStyle", "is_superuser", "server_encoding", "server_version", "session_authorization", "standard_conforming_strings", "TimeZone",
}

// negotiate announces the supported protocol version if the client asks for a newer one.
func (a *reply) negotiate(m *pgproto3.StartupMessage) {
	const minor = 0xffff
	if m.ProtocolVersion&minor > 0 {
		a.send(&pgproto3.NegotiateProtocolVersion{})
	}
}

// welcome appends the messages that accept a connection. pid and secret allow the client to
// cancel its statements.
func (a *reply) welcome(settings map[string]string, pid uint32, secret []byte) {
	a.send(&pgproto3.AuthenticationOk{})
	for _, name := range reportedSettings {
		a.send(&pgproto3.ParameterStatus{Name: name, Value: settings[strings.ToLower(name)]})
	}
	a.send(&pgproto3.BackendKeyData{ProcessID: pid, SecretKey: secret})
	a.addText("welcome")
}
