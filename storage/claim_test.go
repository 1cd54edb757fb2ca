package storage

import (
	"strings"
	"testing"
)

// A claim inserts a row for a period. There is at most one row for a period, whatever the
// storage's policy for tokens is. A
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
				t.Errorf("%s: claim %d is answered with %+v, want it applied: %v", policy, i+1, r, want)
			}
			if r := s.Do(read("runs", 1)); r.Period != period || r.Version != period {
				t.Errorf("%s: a read after claim %d is answered with %+v, want period and version %d", policy, i+1, r, period)
			}
		}
		// Without a claim, a row may be for an earlier period than the last, and may be
		// written again.
		for _, period := range []int{3, 3, 1} {
			if r := s.Do(Request{Op: Write, Object: "runs", Token: 1, Period: period}); r.Refused != "" {
				t.Errorf("%s: a write for period %d without a claim is answered with %+v, want no refusal", policy, period, r)
			}
		}
		if r := s.Do(read("runs", 1)); r.Period != 1 {
			t.Errorf("%s: a read is answered with %+v, want period 1, which was written last", policy, r)
		}
		if r := s.Do(Request{Op: Write, Object: "other", Token: 1, Period: 1, Claims: true}); r.Refused != "" {
			t.Errorf("%s: a claim of another object is answered with %+v, want no refusal", policy, r)
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
		t.Errorf("a claim after its row was lost is answered with %+v, want version 1", r)
	}
	s.FailOver(2)
	if r := s.Do(claim); r.Refused == "" {
		t.Errorf("a claim after its row was kept is answered with %+v, want a refusal", r)
	}
}
