package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/history"
)

// The test checks when sections and their leases end, and which sections overlap. In want,
// sections are numbered from 0. The scripts are traces written by hand; see [script].
func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		name, story string
		want        []string
	}{
		{"a section that outlives its lease", `
			0s  c1 acquires rank=1 ends=30s
			40s c1 releases`,
			[]string{"c1 in 0s to 40s, lease to 30s"}},
		{"release ends a lease", `
			0s  c1 acquires rank=1 ends=30s
			10s c1 releases`,
			[]string{"c1 in 0s to 10s, lease to 10s"}},
		{"an extend moves the end of the lease", `
			0s  c1 acquires rank=1 ends=30s
			20s c1 extends ends=50s
			60s c1 releases`,
			[]string{"c1 in 0s to 1m0s, lease to 50s"}},
		{"a crash ends the section and its lease", `
			0s c1 acquires rank=1 ends=30s
			5s c1 crashes`,
			[]string{"c1 in 0s to 5s, lease to 5s, its client crashed"}},
		{"a section that never ends", `
			0s c1 acquires rank=1 ends=30s
			5s c2 calls`,
			[]string{"c1 in 0s to ever, lease to 30s"}},
		{"two sections that overlap", `
			0s  c1 acquires rank=1 ends=30s
			35s c2 acquires rank=2 ends=65s
			38s c2 releases
			40s c1 releases`,
			[]string{"c1 in 0s to 40s, lease to 30s", "c2 in 35s to 38s, lease to 38s", "0 and 1 overlap from 35s to 38s"}},
		{"two sections that meet do not overlap", `
			0s  c1 acquires rank=1 ends=30s
			10s c1 releases
			10s c2 acquires rank=2 ends=40s
			20s c2 releases`,
			[]string{"c1 in 0s to 10s, lease to 10s", "c2 in 10s to 20s, lease to 20s"}},
		{"sections of two locks do not overlap", `
			lock M ttl=30s
			0s  c1 acquires rank=1 ends=30s
			10s c2 acquires rank=1 ends=40s lock=M
			20s c1 releases
			20s c2 releases`,
			[]string{"c1 in 0s to 20s, lease to 20s", "c2 in 10s to 20s, lease to 20s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sections := history.New(parseScript(t, c.story).trace).Sections()
			var got []string
			place := map[*history.Section]int{}
			for i, s := range sections {
				place[s] = i
				to := s.To.At.String()
				if s.To == history.Never {
					to = "ever"
				}
				words := fmt.Sprintf("%s in %v to %s, lease to %v", s.Client, s.From.At, to, s.Lease.End().At)
				if s.CutShort() != "" {
					words += ", " + s.CutShort()
				}
				got = append(got, words)
			}
			listed := map[*history.Section]bool{}
			for _, o := range history.Overlaps(sections, 100) {
				listed[o.A], listed[o.B] = true, true
				got = append(got, fmt.Sprintf("%d and %d overlap from %v to %v", place[o.A], place[o.B], o.From, o.To))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if overlapping := history.Overlapping(sections); !maps.Equal(overlapping, listed) {
				t.Errorf("Overlapping returns %d sections, Overlaps lists %d", len(overlapping), len(listed))
			}
		})
	}
}

// Of many overlaps only as many are listed as asked for. Overlapping still finds all
// sections that have one.
func TestOverlapsAreBounded(t *testing.T) {
	sections := history.New(overlappingSections(100)).Sections()
	if n := len(history.Overlaps(sections, 1e6)); n != 100*99/2 {
		t.Errorf("100 sections at the same time have %d overlaps, want %d", n, 100*99/2)
	}
	if n := len(history.Overlaps(sections, 70)); n != 70 {
		t.Errorf("Overlaps lists %d overlaps, want the 70 that were asked for", n)
	}
	if all := history.Overlapping(sections); len(all) != 100 {
		t.Errorf("Overlapping returns %d sections, want all 100", len(all))
	}
}
