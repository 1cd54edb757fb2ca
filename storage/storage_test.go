package storage

import (
	"slices"
	"strings"
	"testing"
)

func read(object string, token uint64) Request {
	return Request{Op: Read, Object: object, Token: token}
}

func write(object string, token uint64) Request {
	return Request{Op: Write, Object: object, Token: token, Value: "v"}
}

func mark(object string, token uint64) Request {
	return Request{Op: Mark, Object: object, Token: token}
}

// A refused request changes neither the objects nor the highest token seen.
func TestRefusalChangesNothing(t *testing.T) {
	s := New(Writes)
	s.Do(Request{Op: Write, Object: "x", Token: 34, Value: "new"})
	resp := s.Do(Request{Op: Write, Object: "x", Token: 33, Value: "old"})
	if !strings.Contains(resp.Refused, "33") || !strings.Contains(resp.Refused, "34") {
		t.Errorf("the refusal %q does not name both tokens", resp.Refused)
	}
	if resp.Version != 1 {
		t.Errorf("the refusal has version %d, want 1", resp.Version)
	}
	if version, value := s.Object("x"); version != 1 || value != "new" || s.Token("x") != 34 {
		t.Errorf("after the refusal: version %d, value %q, highest token %d; want 1, new, 34", version, value, s.Token("x"))
	}
}

func TestVersions(t *testing.T) {
	s := New(None)
	if r := s.Do(read("x", 0)); r.Version != 0 || r.Value != "" {
		t.Errorf("a read of an object that was never written is answered with %+v, want version 0 without a value", r)
	}
	for i, value := range []string{"a", "b"} {
		if r := s.Do(Request{Op: Write, Object: "x", Value: value}); r.Version != i+1 || r.Replaced != i {
			t.Errorf("write %d made version %d in place of %d, want %d in place of %d", i+1, r.Version, r.Replaced, i+1, i)
		}
	}
	s.Do(write("y", 0))
	if r := s.Do(read("x", 0)); r.Version != 2 || r.Value != "b" {
		t.Errorf("read %+v, want version 2 with b: objects have versions of their own", r)
	}
	if r := s.Do(mark("x", 7)); r != (Response{Version: 2}) {
		t.Errorf("a mark is answered with %+v, want the version and nothing else", r)
	}
	if r := s.Do(read("x", 0)); r.Version != 2 || r.Value != "b" {
		t.Errorf("after the mark, read %+v, want version 2 with b: a mark is no write", r)
	}
	if s.Token("x") != 0 {
		t.Errorf("a storage without fencing has the highest token %d, want 0", s.Token("x"))
	}
}

// The history contains every request, including refused ones.
func TestHistory(t *testing.T) {
	s := New(Writes)
	requests := []Request{write("y", 34), read("x", 33), write("x", 33), mark("z", 1)}
	for _, req := range requests {
		s.Do(req)
	}
	for i, e := range s.History() {
		if e.Request != requests[i] || (e.Response.Refused != "") != (i == 2) || e.Lost {
			t.Errorf("entry %d is %+v, want request %+v, refused only if it is entry 2, and not lost", i, e, requests[i])
		}
	}
	if len(s.History()) != len(requests) {
		t.Errorf("the history has %d entries, want %d", len(s.History()), len(requests))
	}
	if got := s.Objects(); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Errorf("the objects are %v, want x, y and z: an object counts even if it was only marked", got)
	}
}
