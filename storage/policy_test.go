package storage

import (
	"slices"
	"testing"
)

// serve returns the results of requests that are served one after the other: "ok", or why
// the request was refused.
func serve(p Policy, requests ...Request) []string {
	s := New(p)
	var results []string
	for _, req := range requests {
		refused := s.Do(req).Refused
		if refused == "" {
			refused = "ok"
		}
		results = append(results, refused)
	}
	return results
}

const (
	older   = "token 33 is older than token 34, which the storage has already seen"
	noToken = "it carries no fencing token"
)

// writeKnowing returns a write without a token by a client that knows this version of the
// object.
func writeKnowing(object string, version int) Request {
	return Request{Op: Write, Object: object, KnownVersion: version}
}

// For each policy there are requests that it accepts and similar ones that it refuses. 33
// and 34 are the tokens of two holders; the holder with 34 is the newer one.
func TestPolicies(t *testing.T) {
	type rows []struct {
		policy Policy
		want   []string
	}
	for _, test := range []struct {
		name     string
		requests []Request
		rows     rows
	}{{
		name:     "a stale holder writes after the new one",
		requests: []Request{write("x", 33), write("x", 34), write("x", 33)},
		rows: rows{
			{None, []string{"ok", "ok", "ok"}},
			{Writes, []string{"ok", "ok", older}},
			{ReadsAndWrites, []string{"ok", "ok", older}},
			{VolatileToken, []string{"ok", "ok", older}},  // it differs from Writes only after a crash
			{CheckThenWrite, []string{"ok", "ok", older}}, // it differs from Writes only if another request comes between check and write
			{Strict, []string{"ok", "ok", older}},
			{PerShard, []string{"ok", "ok", "token 33 is older than token 34, which the shard of x has already seen"}},
			{Unfenceable, []string{"ok", "ok", "ok"}},
		},
	}, {
		name:     "a stale holder writes before the new one",
		requests: []Request{write("x", 33), write("x", 34)},
		rows:     rows{{Writes, []string{"ok", "ok"}}, {ReadsAndWrites, []string{"ok", "ok"}}},
	}, {
		name:     "a stale holder writes after the new one has read",
		requests: []Request{read("x", 34), write("x", 33)},
		rows:     rows{{Writes, []string{"ok", "ok"}}, {ReadsAndWrites, []string{"ok", older}}},
	}, {
		name:     "a stale holder reads",
		requests: []Request{write("x", 34), read("x", 33)},
		rows:     rows{{Writes, []string{"ok", "ok"}}, {ReadsAndWrites, []string{"ok", older}}},
	}, {
		name:     "one holder writes twice",
		requests: []Request{write("x", 33), write("x", 33)},
		rows: rows{
			{Writes, []string{"ok", "ok"}},
			{Strict, []string{"ok", "token 33 is not newer than token 33, which the storage has already seen"}},
		},
	}, {
		name:     "a stale holder writes another object than the new one did",
		requests: []Request{write("x", 34), write("y", 33)},
		rows:     rows{{Writes, []string{"ok", older}}, {PerShard, []string{"ok", "ok"}}},
	}, {
		name:     "tokens have gaps",
		requests: []Request{write("x", 1), write("x", 7)},
		rows:     rows{{Writes, []string{"ok", "ok"}}, {Strict, []string{"ok", "ok"}}, {PerShard, []string{"ok", "ok"}}},
	}, {
		name:     "a refused token does not lower the highest",
		requests: []Request{write("x", 34), write("x", 33), write("x", 33), write("x", 34)},
		rows:     rows{{Writes, []string{"ok", older, older, "ok"}}, {CheckThenWrite, []string{"ok", older, older, "ok"}}},
	}, {
		name:     "no request carries a token",
		requests: []Request{read("x", 0), mark("x", 0), write("x", 0)},
		rows: rows{
			{"", []string{"ok", "ok", "ok"}},
			{None, []string{"ok", "ok", "ok"}},
			{Writes, []string{"ok", "ok", noToken}},
			{ReadsAndWrites, []string{noToken, "ok", noToken}},
			{VolatileToken, []string{"ok", "ok", noToken}},
			{CheckThenWrite, []string{"ok", "ok", noToken}},
			{Strict, []string{"ok", "ok", noToken}},
			{PerShard, []string{"ok", "ok", noToken}},
			{Lenient, []string{"ok", "ok", "ok"}},
			{CheckAndSet, []string{"ok", "it carries no token", "it carries no token"}},
			{Owner, []string{"ok", "ok", "ok"}},
			{Unfenceable, []string{"ok", "ok", "ok"}},
		},
	}, {
		name:     "a client that has read a version writes after another write",
		requests: []Request{writeKnowing("x", 0), writeKnowing("x", 0), read("x", 0), writeKnowing("x", 1), writeKnowing("y", 1), write("x", 9)},
		rows: rows{
			{Optimistic, []string{"ok", "x is now at version 1", "ok", "ok", "y is now at version 0", "x is now at version 2"}},
			{None, []string{"ok", "ok", "ok", "ok", "ok", "ok"}}, // it checks nothing
		},
	}, {
		name:     "one of three writes carries no token",
		requests: []Request{write("x", 34), write("x", 0), write("x", 33)},
		rows:     rows{{Writes, []string{"ok", noToken, older}}, {Lenient, []string{"ok", "ok", older}}},
	}, {
		// Under policies that compare tokens of writes, marks have no effect: the client
		// with token 33 may still write after the one with 34 has only marked.
		name:     "marks between writes",
		requests: []Request{mark("x", 99), write("x", 33), mark("x", 1), write("x", 34)},
		rows: rows{
			{None, []string{"ok", "ok", "ok", "ok"}},
			{Writes, []string{"ok", "ok", "ok", "ok"}},
			{ReadsAndWrites, []string{"ok", "ok", "ok", "ok"}},
			{Strict, []string{"ok", "ok", "ok", "ok"}},
			{PerShard, []string{"ok", "ok", "ok", "ok"}},
			{Unfenceable, []string{"ok", "ok", "ok", "ok"}},
		},
	}} {
		for _, row := range test.rows {
			t.Run(test.name+"/"+string(row.policy), func(t *testing.T) {
				if got := serve(row.policy, test.requests...); !slices.Equal(got, row.want) {
					t.Errorf("the requests are answered with\n%q, want\n%q", got, row.want)
				}
			})
		}
	}
}

// CheckAndSet works with tokens that have no order: here the first holder has 907 and the
// second has 15. The holder that has set the mark last can write.
func TestCheckAndSet(t *testing.T) {
	const marked = "it carries token 907, but x is marked with token 15"
	for _, test := range []struct {
		name     string
		requests []Request
		want     []string
	}{
		{"a holder marks, reads and writes twice",
			[]Request{mark("x", 907), read("x", 907), write("x", 907), write("x", 907)},
			[]string{"ok", "ok", "ok", "ok"}},
		{"the new holder marks before the stale one writes",
			[]Request{mark("x", 907), mark("x", 15), write("x", 907), write("x", 15)},
			[]string{"ok", "ok", marked, "ok"}},
		{"the stale holder reads after the new one's mark",
			[]Request{mark("x", 907), mark("x", 15), read("x", 907)},
			[]string{"ok", "ok", "ok"}},
		// The tokens have no order, so the last mark counts, even if the stale holder has
		// set it. A policy that compares tokens would refuse 33 after a write with 34.
		{"the stale holder's mark arrives after the new one's",
			[]Request{mark("x", 15), mark("x", 907), write("x", 15), write("x", 907)},
			[]string{"ok", "ok", "it carries token 15, but x is marked with token 907", "ok"}},
		{"no holder has marked the object",
			[]Request{write("x", 907)},
			[]string{"it carries token 907, but no client has marked x"}},
		{"the holder has marked another object",
			[]Request{mark("y", 907), write("x", 907)},
			[]string{"ok", "it carries token 907, but no client has marked x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := serve(CheckAndSet, test.requests...); !slices.Equal(got, test.want) {
				t.Errorf("the requests are answered with\n%q, want\n%q", got, test.want)
			}
		})
	}
}

// If the check and the write are two steps, other requests can come between them. The
// highest token seen does not decrease because of that, so a third write of the stale
// holder is refused.
func TestCheckThenWrite(t *testing.T) {
	s := New(CheckThenWrite)
	if refused := s.Check(write("x", 33)); refused != "" {
		t.Fatalf("the check of the write with token 33 refuses it: %s", refused)
	}
	if r := s.Do(write("x", 34)); r.Refused != "" {
		t.Fatalf("the write with token 34 is refused: %s", r.Refused)
	}
	if r := s.Apply(write("x", 33)); r.Refused != "" || r.Replaced != 1 || r.Version != 2 {
		t.Errorf("the write of 33 that had been checked is answered with %+v, want version 2 in place of 34's", r)
	}
	if refused := s.Check(write("x", 33)); refused != older {
		t.Errorf("the next write with token 33 is refused for %q, want %q", refused, older)
	}
	if n := len(s.History()); n != 2 {
		t.Errorf("the history has %d entries, want 2: a check is no request", n)
	}
	if refused := s.Check(read("x", 0)); refused != "" {
		t.Errorf("a read is refused for %q, want no refusal", refused)
	}
}

// Every policy is listed exactly once.
func TestPoliciesAreListed(t *testing.T) {
	seen := map[Policy]bool{}
	for _, p := range Policies() {
		if seen[p] || p == "" {
			t.Errorf("%q is listed twice, or empty", p)
		}
		seen[p] = true
		if p.Title() == "" {
			t.Errorf("%s has no title", p)
		}
		refuses := New(p).Check(write("x", 0)) != "" // no write of x was applied before
		if open := p == None || p == Lenient || p == Owner || p == Optimistic || p == Unfenceable; refuses == open {
			t.Errorf("%s: a write without a token is refused: %v, want %v", p, refuses, !refuses)
		}
	}
}
