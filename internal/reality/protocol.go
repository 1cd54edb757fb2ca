package reality

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// These are the types of messages that the harness sends to a client's program. Each of
// them is one line of JSON on the program's standard input, and the program answers each
// with one line.
const (
	// Init is the first message: who the client is, which lock it competes for, and where
	// the servers are. The answer is Ready.
	Init = "init"
	// Acquire asks the program to try once to acquire the lock. The answer is Acquired or
	// Failed.
	Acquire = "acquire"
	// Extend asks the program to extend the lease. The answer is Extended or Failed.
	Extend = "extend"
	// Release asks the program to release the lock. The answer is Released or Failed.
	Release = "release"
	// Step says that the critical section is about to do its next step, such as a write. The answer
	// is OK, and the harness then does the step. A program cannot refuse a step.
	Step = "step"
)

// These are the types of messages that a program sends. The last two answer nothing: the
// program may send them at any time.
const (
	Ready    = "ready"
	Acquired = "acquired"
	Extended = "extended"
	Released = "released"
	OK       = "ok"
	Failed   = "failed"
	Lost     = "lost"
	Renewed  = "renewed"
)

// A Command is a message of the harness to a client's program.
type Command struct {
	Type string `json:"type"`
	// Client is the name of the client, Key the name of the lock, and TTL how long a grant
	// lasts, in milliseconds. System is the kind of the servers, and Servers are their
	// addresses, as IP:port. These are set in an Init.
	Client  string   `json:"client,omitempty"`
	Key     string   `json:"key,omitempty"`
	TTL     float64  `json:"ttl,omitempty"`
	System  string   `json:"system,omitempty"`
	Servers []string `json:"servers,omitempty"`
	// Section is the number of the client's section, from 1.
	Section int `json:"section,omitempty"`
	// Step is what the section does next, such as write, and Object what it reads or writes.
	Step   string `json:"step,omitempty"`
	Object string `json:"object,omitempty"`
}

// An Answer is a message of a client's program to the harness.
type Answer struct {
	Type string `json:"type"`
	// Key is the key under which the lock is stored, in a Ready; "" means the key of the Init.
	// Servers is how many servers the lock uses, counted from the first; 0 means all of them.
	// Quorum is on how many of them the key must be; 0 means a majority.
	Key     string `json:"key,omitempty"`
	Servers int    `json:"servers,omitempty"`
	Quorum  int    `json:"quorum,omitempty"`
	// Token is the fencing token of the grant; 0 means that the lock has none.
	Token uint64 `json:"token,omitempty"`
	// Until is when the lease ends, in milliseconds since 1970; 0 means one TTL after the
	// call, or after a Renewed.
	Until float64 `json:"until,omitempty"`
	// Session is the session of the cluster on which the grant depends, in hexadecimal; ""
	// means that it depends on none.
	Session string `json:"session,omitempty"`
	// Notifies says, in an Acquired, that the program will send Lost if the lease is lost.
	Notifies bool `json:"notifies,omitempty"`
	// Section is the section that a Lost or a Renewed is about; 0 means the latest.
	Section int `json:"section,omitempty"`
	// Error says why something failed.
	Error string `json:"error,omitempty"`
}

// maxLine bounds the length of a line, in bytes.
const maxLine = 64 << 10

// ParseAnswer parses one line of a client's program.
func ParseAnswer(line []byte) (Answer, error) {
	var a Answer
	if len(line) > maxLine {
		return a, fmt.Errorf("the line has %d bytes; at most %d are allowed", len(line), maxLine)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("%q is not a message: %w", shorten(line), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return a, fmt.Errorf("%q is more than one message; write each on a line of its own", shorten(line))
	}
	return a, a.check()
}

// check returns an error if the message makes no sense.
func (a Answer) check() error {
	switch a.Type {
	case Ready, Acquired, Extended, Released, OK, Failed, Lost, Renewed:
	default:
		return fmt.Errorf("%q is not a type of message; write one of ready, acquired, extended, released, ok, failed, lost, renewed", a.Type)
	}
	switch {
	case a.Until < 0 || a.Until > 4e12:
		return fmt.Errorf("until is %g; write milliseconds since 1970, or leave it out", a.Until)
	case a.Until > 0 && a.Until < 1e12:
		return fmt.Errorf("until is %g, which is in the year 2001 or before; write milliseconds since 1970, not seconds and not a duration", a.Until)
	case a.Section < 0 || a.Quorum < 0 || a.Servers < 0:
		return errors.New("section, servers and quorum must not be below 0")
	}
	return nil
}

// shorten returns the beginning of a long line.
func shorten(line []byte) string {
	if len(line) > 100 {
		return string(line[:100]) + "…"
	}
	return string(line)
}
