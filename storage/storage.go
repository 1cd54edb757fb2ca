// Package storage is the protected resource: it keeps the data that a lock protects. It may check
// fencing tokens, and it remembers all requests.
//
// The rule for fencing is Martin Kleppmann's ("How to do distributed locking", 2016): the
// storage refuses a request whose token is lower than one that it has already seen.
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
	// Mark sets an object's mark to the request's token, whatever the mark was before. It
	// is for the policy CheckAndSet; under any other policy it has no effect.
	Mark Op = "mark"
)

// A Request is one client's request for one object.
type Request struct {
	Op     Op     `json:"op"`
	Object string `json:"object"`
	// Value is the new value of the object, for a write.
	Value string `json:"value,omitempty"`
	// Token is the fencing token of the lock's grant; 0 means that the request has none.
	Token uint64 `json:"token,omitempty"`
	// KnownVersion is the version of the object that the client has last learned, for a
	// storage with the policy Optimistic. 0 means that the client knows of no version; an
	// object that was never written has that version.
	KnownVersion int `json:"-"`
	// Period is set for a write in a world with a schedule, in which a job is due once in each
	// period. It is the number of the period for which the write is made; 0 means none.
	Period int `json:"period,omitempty"`
	// Claims makes a write insert a row for the object and the period. There can be only one such
	// row: if it exists, the write is refused, whatever the policy.
	Claims bool `json:"claims,omitempty"`
}

// A Response is the answer to one request.
type Response struct {
	// Version is the object's version after the request: how often it was written, 0 if
	// never.
	Version int `json:"version"`
	// Replaced is the version that an applied write replaced.
	Replaced int `json:"replaced,omitempty"`
	// Value is the value that was read, and Period the period for which it was written; 0
	// means none.
	Value  string `json:"value,omitempty"`
	Period int    `json:"period,omitempty"`
	// Refused says why the request was refused; "" if it was not.
	Refused string `json:"refused,omitempty"`
}

// An Entry is one request and its response.
type Entry struct {
	Request  Request
	Response Response
	// Lost reports that the request was applied, but that its effect is lost, because a copy of the
	// storage has taken over and had not received the request.
	Lost bool
}

// A Store holds the objects. Do checks the token of a write and makes the write in one
// step, so that no other request comes between the two. With the policy CheckThenWrite the
// caller takes two steps instead: it calls Check, and some time later Apply.
//
// A Store is not safe for concurrent use. It serves one request at a time, in the order in
// which they arrive.
type Store struct {
	policy  Policy
	record  record
	history []Entry
}

// A record is the state of the storage.
type record struct {
	objects map[string]object
	// tokens maps each scope to the token with which the policy compares requests: the highest
	// token seen, or the mark. Objects of the same scope share one token; see [Policy.scope].
	tokens map[string]uint64
}

// An object has its current version, its value, and the period for which it was written.
type object struct {
	version int
	value   string
	period  int
}

// New returns an empty store.
func New(p Policy) *Store { return &Store{policy: p, record: emptyRecord()} }

// emptyRecord returns the state of a storage to which nothing was written.
func emptyRecord() record {
	return record{objects: map[string]object{}, tokens: map[string]uint64{}}
}

// Do checks a request, serves it and records it.
func (s *Store) Do(req Request) Response {
	if refused := s.Check(req); refused != "" {
		return s.log(req, Response{Version: s.record.objects[req.Object].version, Refused: refused})
	}
	return s.Apply(req)
}

// Check says why a request must be refused now; "" if it must be accepted. Check changes nothing.
func (s *Store) Check(req Request) (refused string) {
	return s.policy.refusal(req, s.Token(req.Object), s.record.objects[req.Object].version)
}

// Apply serves a request that has passed the check, and records it. It refuses the request if the
// row that the request would insert exists by now. The check may have been some time ago.
func (s *Store) Apply(req Request) Response {
	if req.Claims && s.isClaimed(req) {
		return s.log(req, Response{Version: s.record.objects[req.Object].version, Refused: claimRefusal(req.Object, req.Period)})
	}
	return s.log(req, s.perform(req))
}

// isClaimed reports whether the row that a request would insert exists.
func (s *Store) isClaimed(req Request) bool {
	return slices.ContainsFunc(s.history, func(e Entry) bool {
		earlier := e.Request
		return earlier.Claims && earlier.Object == req.Object && earlier.Period == req.Period && e.Response.Refused == "" && !e.Lost
	})
}

// claimRefusal says why a second row for a period is refused.
func claimRefusal(object string, period int) string {
	return fmt.Sprintf("%s already has a row for period %d", object, period)
}

// log records a request and its response.
func (s *Store) log(req Request, resp Response) Response {
	s.history = append(s.history, Entry{Request: req, Response: resp})
	return resp
}

// perform serves a request that must not be refused.
func (s *Store) perform(req Request) Response {
	s.remember(req)
	old := s.record.objects[req.Object]
	switch req.Op {
	case Read:
		return Response{Version: old.version, Value: old.value, Period: old.period}
	case Write:
		updated := object{version: old.version + 1, value: req.Value, period: req.Period}
		s.record.objects[req.Object] = updated
		return Response{Version: updated.version, Replaced: old.version}
	}
	return Response{Version: old.version}
}

// remember stores the token of an applied request if the policy compares later requests with it. A
// new mark replaces the old one. The highest token seen never decreases.
func (s *Store) remember(req Request) {
	if s.policy.keepsToken(req.Op) && (s.policy == CheckAndSet || req.Token > s.Token(req.Object)) {
		s.record.tokens[s.policy.scope(req.Object)] = req.Token
	}
}

// History returns all requests with their responses, also the refused ones, in order. The caller
// must not change the slice.
func (s *Store) History() []Entry { return s.history }

// Token returns the token with which the policy compares a request for an object: the
// highest token seen, or the object's mark. 0 means that there is none.
func (s *Store) Token(object string) uint64 { return s.record.tokens[s.policy.scope(object)] }

// Object returns the version and the value of an object; 0 and "" if it was never written.
func (s *Store) Object(name string) (version int, value string) {
	o := s.record.objects[name]
	return o.version, o.value
}

// Objects returns the objects that the requests have named, in alphabetical order.
func (s *Store) Objects() []string {
	var names []string
	for _, e := range s.history {
		names = append(names, e.Request.Object)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
