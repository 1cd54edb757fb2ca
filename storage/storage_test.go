package storage

import (
	"slices"
	"strings"
	"testing"
)

func read(token uint64) Request { return Request{Op: Read, Object: "x", Token: token} }

func write(token uint64, value string) Request {
	return Request{Op: Write, Object: "x", Token: token, Value: value}
}

// Which requests each policy refuses, in the order in which they come.
func TestFencing(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests []Request
		refused  map[Policy][]int // counted from 0
	}{{
		name:     "an older token after a newer one",
		requests: []Request{write(33, "a"), write(34, "b"), write(33, "c")},
		refused:  map[Policy][]int{Writes: {2}, ReadsAndWrites: {2}},
	}, {
		name:     "one holder writes twice",
		requests: []Request{write(33, "a"), write(33, "b")},
	}, {
		name:     "gaps between tokens",
		requests: []Request{write(1, "a"), write(7, "b")},
	}, {
		name:     "no token",
		requests: []Request{read(0), write(0, "a")},
		refused:  map[Policy][]int{Writes: {1}, ReadsAndWrites: {0, 1}},
	}, {
		name:     "a newer holder has only read",
		requests: []Request{read(34), write(33, "a")},
		refused:  map[Policy][]int{ReadsAndWrites: {1}},
	}, {
		name:     "an older holder reads",
		requests: []Request{write(34, "a"), read(33)},
		refused:  map[Policy][]int{ReadsAndWrites: {1}},
	}, {
		name:     "a refused token does not lower the highest",
		requests: []Request{write(34, "a"), write(33, "b"), write(33, "c"), write(34, "d")},
		refused:  map[Policy][]int{Writes: {1, 2}, ReadsAndWrites: {1, 2}},
	}} {
		for _, p := range Policies() {
			t.Run(c.name+"/"+string(p), func(t *testing.T) {
				s := New(p)
				var refused []int
				for i, req := range c.requests {
					if s.Do(req).Refused != "" {
						refused = append(refused, i)
					}
				}
				if !slices.Equal(refused, c.refused[p]) {
					t.Errorf("refused requests %v, want %v", refused, c.refused[p])
				}
				if len(s.History()) != len(c.requests) {
					t.Errorf("the history has %d entries, want %d", len(s.History()), len(c.requests))
				}
			})
		}
	}
}

// The highest token and the objects change together or not at all.
func TestRefusalChangesNothing(t *testing.T) {
	s := New(Writes)
	s.Do(write(34, "new"))
	resp := s.Do(write(33, "old"))
	if !strings.Contains(resp.Refused, "33") || !strings.Contains(resp.Refused, "34") {
		t.Errorf("the refusal %q does not name both tokens", resp.Refused)
	}
	if version, value := s.Object("x"); version != 1 || value != "new" || s.Highest() != 34 {
		t.Errorf("after the refusal: version %d, value %q, highest token %d", version, value, s.Highest())
	}
}

func TestVersions(t *testing.T) {
	s := New(None)
	if r := s.Do(read(0)); r.Version != 0 || r.Value != "" {
		t.Errorf("an object never written reads %+v", r)
	}
	for i, value := range []string{"a", "b"} {
		if r := s.Do(write(0, value)); r.Version != i+1 || r.Replaced != i {
			t.Errorf("write %d made version %d in place of %d", i+1, r.Version, r.Replaced)
		}
	}
	s.Do(Request{Op: Write, Object: "y", Value: "c"})
	if r := s.Do(read(0)); r.Version != 2 || r.Value != "b" {
		t.Errorf("read %+v, want version 2 with b: objects have versions of their own", r)
	}
	if s.Highest() != 0 {
		t.Errorf("a storage without fencing remembers token %d", s.Highest())
	}
}
