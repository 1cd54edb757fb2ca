// Package storage is the protected resource: the service whose data the lock is
// there to keep in order. It may check fencing tokens, and it keeps the full
// history of what it did.
//
// The fencing rule is Martin Kleppmann's ("How to do distributed locking",
// 2016): a request that carries a token lower than one already seen is refused.
package storage

import "fmt"

// Policy says which requests must carry a fencing token.
type Policy string

const (
	// None ignores tokens.
	None Policy = "none"
	// Writes checks the token of every write.
	Writes Policy = "writes"
	// ReadsAndWrites checks the token of every request, and lets a read raise
	// the highest token seen.
	ReadsAndWrites Policy = "reads-and-writes"
)

// Policies lists every policy, in the order in which they grow stricter.
func Policies() []Policy { return []Policy{None, Writes, ReadsAndWrites} }

// Op is what a request asks for.
type Op string

const (
	Read  Op = "read"
	Write Op = "write"
)

// A Request is one client's request for one object.
type Request struct {
	Op     Op     `json:"op"`
	Object string `json:"object"`
	// Value is what a write puts there.
	Value string `json:"value,omitempty"`
	// Token is the fencing token of the lock's grant; 0 means that the request
	// carries none.
	Token uint64 `json:"token,omitempty"`
}

// A Response answers one request.
type Response struct {
	// Version counts the writes that the object has seen: for a read the version
	// that was read, for a write the one that it made. 0 is an object never
	// written.
	Version int `json:"version"`
	// Replaced is, for an applied write, the version that it replaced.
	Replaced int `json:"replaced,omitempty"`
	// Value is what was read.
	Value string `json:"value,omitempty"`
	// Refused says why the request was refused; it is empty when it was not.
	Refused string `json:"refused,omitempty"`
}

// An Entry is one request and what became of it.
type Entry struct {
	Request  Request
	Response Response
}

// A Store holds the objects. Its state, the highest token included, is one
// record that each request replaces as a whole: there is no moment at which a
// token has been checked and the write has not yet been made.
//
// A Store is not safe for concurrent use: it serves one request at a time, in
// the order in which they arrive.
type Store struct {
	policy  Policy
	record  record
	history []Entry
}

type record struct {
	objects map[string]object
	highest uint64
}

type object struct {
	version int
	value   string
}

// New returns an empty store.
func New(p Policy) *Store {
	return &Store{policy: p, record: record{objects: map[string]object{}}}
}

// Do serves one request and records it.
func (s *Store) Do(req Request) Response {
	resp := s.serve(req)
	s.history = append(s.history, Entry{req, resp})
	return resp
}

func (s *Store) serve(req Request) Response {
	if refused := s.fence(req); refused != "" {
		return Response{Version: s.record.objects[req.Object].version, Refused: refused}
	}
	if req.Token > s.record.highest && s.checks(req.Op) {
		s.record.highest = req.Token
	}
	was := s.record.objects[req.Object]
	if req.Op == Read {
		return Response{Version: was.version, Value: was.value}
	}
	now := object{version: was.version + 1, value: req.Value}
	s.record.objects[req.Object] = now
	return Response{Version: now.version, Replaced: was.version}
}

// fence returns why req must be refused, or "".
func (s *Store) fence(req Request) string {
	switch {
	case !s.checks(req.Op):
		return ""
	case req.Token == 0:
		return "it carries no fencing token"
	case req.Token < s.record.highest:
		return fmt.Sprintf("token %d is older than token %d, which the storage has already seen", req.Token, s.record.highest)
	}
	return ""
}

func (s *Store) checks(op Op) bool {
	return s.policy == ReadsAndWrites || s.policy == Writes && op == Write
}

// History returns every request served so far, in order. The slice is shared:
// do not change it.
func (s *Store) History() []Entry { return s.history }

// Highest is the highest token that the store has accepted.
func (s *Store) Highest() uint64 { return s.record.highest }

// Object returns the version and value of an object, 0 and "" if it was never
// written.
func (s *Store) Object(name string) (version int, value string) {
	o := s.record.objects[name]
	return o.version, o.value
}
