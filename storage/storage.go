// Package storage is the protected resource: the service whose data the lock protects. It
// may check fencing tokens, and it keeps the full history of its requests.
//
// The fencing rule is Martin Kleppmann's ("How to do distributed locking", 2016): a request
// that carries a token lower than one already seen is refused.
package storage

import (
	"fmt"
	"slices"
)

// Op is the operation of a request.
type Op string

const (
	Read  Op = "read"
	Write Op = "write"
	// Mark sets the mark of an object to the request's token, whatever the mark was before.
	// It is for the policy CheckAndSet. Under every other policy it is answered and has no
	// effect.
	Mark Op = "mark"
)

// A Request is one client's request for one object.
type Request struct {
	Op     Op     `json:"op"`
	Object string `json:"object"`
	// Value is what a write writes.
	Value string `json:"value,omitempty"`
	// Token is the fencing token of the lock's grant; 0 means that the request has none.
	Token uint64 `json:"token,omitempty"`
	// KnownVersion is the version of the object that the client last learned, for a storage
	// with the policy Optimistic. 0 means that the client knows of no version, and is also
	// the version of an object that was never written.
	KnownVersion int `json:"-"`
	// Period is the period of a schedule for which a write is made; 0 is none.
	Period int `json:"period,omitempty"`
	// Claims makes a write insert a row (object, period), of which there can be only one.
	// The write is refused, whatever the policy, if such a row has been inserted before.
	Claims bool `json:"claims,omitempty"`
}

// A Response answers one request.
type Response struct {
	// Version counts the writes of the object. For a write it is the version that the write
	// made, otherwise the current version. 0 is an object that was never written.
	Version int `json:"version"`
	// Replaced is, for an applied write, the version that it replaced.
	Replaced int `json:"replaced,omitempty"`
	// Value is what was read. Period is the period for which that was written; 0 is none.
	Value  string `json:"value,omitempty"`
	Period int    `json:"period,omitempty"`
	// Refused is why the request was refused; it is empty if the request was not refused.
	Refused string `json:"refused,omitempty"`
}

// An Entry is one request and its response.
type Entry struct {
	Request  Request
	Response Response
	// Lost reports that the request was applied and has been lost: it had not reached the
	// copy that has taken over since.
	Lost bool
}

// A Store holds the objects. Do checks a token and makes the write in one step, with
// nothing in between. A storage with the policy CheckThenWrite takes two steps: its caller
// calls Check, and Apply some time later.
//
// A Store is not safe for concurrent use: it serves one request at a time, in the order in
// which they arrive.
type Store struct {
	policy  Policy
	record  record
	history []Entry
}

type record struct {
	objects map[string]object
	// tokens is what requests are compared with, for each scope of the policy: the highest
	// token seen, or the mark.
	tokens map[string]uint64
}

type object struct {
	version int
	value   string
	period  int
}

// New returns an empty store.
func New(p Policy) *Store { return &Store{policy: p, record: emptyRecord()} }

func emptyRecord() record {
	return record{objects: map[string]object{}, tokens: map[string]uint64{}}
}

// Do serves one request and records it.
func (s *Store) Do(req Request) Response {
	if refused := s.Check(req); refused != "" {
		return s.log(req, Response{Version: s.record.objects[req.Object].version, Refused: refused})
	}
	return s.Apply(req)
}

// Check returns why a request must be refused now, or "". It changes nothing.
func (s *Store) Check(req Request) (refused string) {
	return s.policy.refusal(req, s.Token(req.Object), s.record.objects[req.Object].version)
}

// Apply serves a request that has passed the check, now or some time ago, and records it.
func (s *Store) Apply(req Request) Response {
	if req.Claims && s.isClaimed(req) {
		return s.log(req, Response{Version: s.record.objects[req.Object].version, Refused: claimRefusal(req.Object, req.Period)})
	}
	return s.log(req, s.apply(req))
}

// isClaimed reports whether there is a row for the period of a request.
func (s *Store) isClaimed(req Request) bool {
	return slices.ContainsFunc(s.history, func(e Entry) bool {
		earlier := e.Request
		return earlier.Claims && earlier.Object == req.Object && earlier.Period == req.Period && e.Response.Refused == "" && !e.Lost
	})
}

// claimRefusal returns why a second row for a period is refused.
func claimRefusal(object string, period int) string {
	return fmt.Sprintf("%s has a row for period %d by now", object, period)
}

func (s *Store) log(req Request, resp Response) Response {
	s.history = append(s.history, Entry{Request: req, Response: resp})
	return resp
}

func (s *Store) apply(req Request) Response {
	s.remember(req)
	was := s.record.objects[req.Object]
	switch req.Op {
	case Read:
		return Response{Version: was.version, Value: was.value, Period: was.period}
	case Write:
		now := object{version: was.version + 1, value: req.Value, period: req.Period}
		s.record.objects[req.Object] = now
		return Response{Version: now.version, Replaced: was.version}
	}
	return Response{Version: was.version}
}

// remember keeps the token of an applied request. A mark replaces the previous mark. The
// highest token seen never goes down.
func (s *Store) remember(req Request) {
	if s.policy.keepsToken(req.Op) && (s.policy == CheckAndSet || req.Token > s.Token(req.Object)) {
		s.record.tokens[s.policy.scope(req.Object)] = req.Token
	}
}

// History returns every request served so far, in order. The slice is shared:
// do not change it.
func (s *Store) History() []Entry { return s.history }

// Token returns what a request for an object is compared with: the highest token that has
// been seen, or the object's mark. 0 is none.
func (s *Store) Token(object string) uint64 { return s.record.tokens[s.policy.scope(object)] }

// Object returns the version and the value of an object; 0 and "" if it was never written.
func (s *Store) Object(name string) (version int, value string) {
	o := s.record.objects[name]
	return o.version, o.value
}

// Objects returns, in alphabetical order, the objects that requests have named.
func (s *Store) Objects() []string {
	var names []string
	for _, e := range s.history {
		names = append(names, e.Request.Object)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
