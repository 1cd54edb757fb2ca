package storage

import (
	"strings"
	"testing"
)

// There is at most one row for a period, whatever the storage's policy for tokens is. A
// client that reads the object learns which row was inserted last.
func TestClaims(t *testing.T) {
	claim := func(period int) Request {
		return Request{Op: Write, Object: "runs", Token: 1, Period: period, Claims: true}
	}
	for _, policy := range []Policy{None, Writes, Unfenceable} {
		s := New(policy)
		for i, want := range []bool{true, false, true, false} {
			period := 1 + i/2
			if r := s.Do(claim(period)); (r.Refused == "") != want || !want && !strings.Contains(r.Refused, "a row for period") {
				t.Errorf("%s: claim %d is answered by %+v", policy, i+1, r)
			}
			if r := s.Do(read("runs", 1)); r.Period != period || r.Version != period {
				t.Errorf("%s: after claim %d it reads %+v", policy, i+1, r)
			}
		}
		// Without a claim, a row may be for an earlier period than the last, and may be
		// written again.
		for _, period := range []int{3, 3, 1} {
			if r := s.Do(Request{Op: Write, Object: "runs", Token: 1, Period: period}); r.Refused != "" {
				t.Errorf("%s: %+v", policy, r)
			}
		}
		if r := s.Do(read("runs", 1)); r.Period != 1 {
			t.Errorf("%s: it reads %+v", policy, r)
		}
		if r := s.Do(Request{Op: Write, Object: "other", Token: 1, Period: 1, Claims: true}); r.Refused != "" {
			t.Errorf("%s: another object has the rows of this one: %+v", policy, r)
		}
	}
}

// If a row had not reached the copy that takes over, it is lost, and can be inserted again.
func TestClaimsAfterAFailOver(t *testing.T) {
	s := New(None)
	claim := Request{Op: Write, Object: "runs", Period: 1, Claims: true}
	s.Do(claim)
	s.FailOver(0)
	if r := s.Do(claim); r.Refused != "" || r.Version != 1 {
		t.Errorf("it is answered by %+v", r)
	}
	s.FailOver(2)
	if r := s.Do(claim); r.Refused == "" {
		t.Errorf("it is answered by %+v", r)
	}
}
