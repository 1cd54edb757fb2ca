package storage

import (
	"slices"
	"testing"
)

// TestCrash checks what the storage forgets in a crash, and which writes it accepts after
// it. Before the crash, the newer holder with token 34 has written; token 33 is the older
// holder's.
func TestCrash(t *testing.T) {
	for _, test := range []struct {
		policy Policy
		lost   []Loss
		stale  string // why a write with token 33 is refused after the crash; "" if it is accepted
	}{
		{Writes, nil, older},
		{ReadsAndWrites, nil, older},
		{CheckThenWrite, nil, older},
		{VolatileToken, []Loss{{Version: 0, OldVersion: 0, Token: 0, OldToken: 34}}, ""},
	} {
		t.Run(string(test.policy), func(t *testing.T) {
			s := New(test.policy)
			s.Do(write("x", 34))
			if lost := s.Crash(); !slices.Equal(lost, test.lost) {
				t.Errorf("lost %+v, want %+v", lost, test.lost)
			}
			if version, value := s.Object("x"); version != 1 || value != "v" {
				t.Errorf("x is %q at version %d, want v at 1: the data is on disk", value, version)
			}
			if refused := s.Do(write("x", 33)).Refused; refused != test.stale {
				t.Errorf("the write with token 33 is refused for %q, want %q", refused, test.stale)
			}
		})
	}
	t.Run("no token to forget", func(t *testing.T) {
		s := New(VolatileToken)
		s.Do(read("x", 0))
		if lost := s.Crash(); lost != nil {
			t.Errorf("lost %+v, want nothing", lost)
		}
	})
	t.Run("marks are on disk", func(t *testing.T) {
		s := New(CheckAndSet)
		s.Do(mark("x", 907))
		if lost := s.Crash(); lost != nil {
			t.Errorf("lost %+v, want nothing", lost)
		}
		if refused := s.Do(write("x", 907)).Refused; refused != "" {
			t.Errorf("the holder's write is refused for %q, want no refusal", refused)
		}
	})
}

// The copy has received the first entries of the history. These are the first write of the
// holder with token 33, then the write of the holder with 34, then the second write with
// 33. That one was refused, so it makes no difference to the copy.
func TestFailOver(t *testing.T) {
	requests := []Request{write("x", 33), write("x", 34), write("x", 33)}
	for _, test := range []struct {
		name     string
		policy   Policy
		received int
		lost     []Loss
		stale    string // why a write with token 33 is refused after the failover; "" if it is accepted
	}{
		{"the copy has received all requests", Writes, 3, nil, older},
		{"the copy lacks the refused request", Writes, 2, nil, older},
		{"the copy lacks the last write and its token", Writes, 1, []Loss{
			{Object: "", Token: 33, OldToken: 34},
			{Object: "x", Version: 1, OldVersion: 2},
		}, ""},
		{"the copy has received no request", Writes, 0, []Loss{
			{Object: "", Token: 0, OldToken: 34},
			{Object: "x", Version: 0, OldVersion: 2},
		}, ""},
		{"the copy has received all requests, but the token was only in memory", VolatileToken, 3, []Loss{
			{Object: "", Token: 0, OldToken: 34},
		}, ""},
		{"the copy lacks the last write, and each object has its own token", PerShard, 1, []Loss{
			{Object: "x", Version: 1, OldVersion: 2, Token: 33, OldToken: 34},
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New(test.policy)
			for _, req := range requests {
				s.Do(req)
			}
			if lost := s.FailOver(test.received); !slices.Equal(lost, test.lost) {
				t.Errorf("lost %+v, want %+v", lost, test.lost)
			}
			if refused := s.Do(write("x", 33)).Refused; refused != test.stale {
				t.Errorf("the write with token 33 is refused for %q, want %q", refused, test.stale)
			}
			for i, e := range s.History()[:3] {
				if lost := e.Response.Refused == "" && i >= test.received; e.Lost != lost {
					t.Errorf("entry %d of the history is lost: %v, want %v", i, e.Lost, lost)
				}
			}
		})
	}
}

// Versions that were lost in a failover are used again for new writes. What was lost does
// not come back in a second failover.
func TestFailOverTwice(t *testing.T) {
	s := New(Writes)
	for _, value := range []string{"a", "b"} {
		s.Do(Request{Op: Write, Object: "x", Value: value, Token: 33})
	}
	s.FailOver(1) // the write of "b" is lost
	if r := s.Do(Request{Op: Write, Object: "x", Value: "c", Token: 33}); r.Version != 2 || r.Replaced != 1 {
		t.Errorf("the next write is answered with %+v, want version 2 again", r)
	}
	if lost := s.FailOver(3); lost != nil { // the second copy has received the write of "c", too
		t.Errorf("lost %+v, want nothing", lost)
	}
	if version, value := s.Object("x"); version != 2 || value != "c" {
		t.Errorf("x is %q at version %d, want c at 2", value, version)
	}
}

// The copy applies a write as the storage did, even if the storage had checked it long
// before.
func TestFailOverAfterCheckThenWrite(t *testing.T) {
	s := New(CheckThenWrite)
	s.Do(write("x", 34))
	s.Apply(Request{Op: Write, Object: "x", Token: 33, Value: "stale"}) // its check was before
	if lost := s.FailOver(2); lost != nil {
		t.Errorf("lost %+v, want nothing", lost)
	}
	if version, value := s.Object("x"); version != 2 || value != "stale" || s.Token("x") != 34 {
		t.Errorf("x is %q at version %d with token %d, want stale at 2 with 34", value, version, s.Token("x"))
	}
}

// If a mark is lost, the client that set it can no longer write, and the client that set
// the mark before it can.
func TestFailOverLosesAMark(t *testing.T) {
	s := New(CheckAndSet)
	s.Do(mark("x", 907))
	s.Do(mark("x", 15))
	if lost := s.FailOver(1); !slices.Equal(lost, []Loss{{Object: "x", Token: 907, OldToken: 15}}) {
		t.Errorf("lost %+v, want the mark of token 15", lost)
	}
	if got := s.Do(write("x", 15)).Refused; got != "it carries token 15, but x is marked with token 907" {
		t.Errorf("the new holder's write is refused for %q, want that x is marked with token 907", got)
	}
	if got := s.Do(write("x", 907)).Refused; got != "" {
		t.Errorf("the stale holder's write is refused for %q, want no refusal", got)
	}
}
