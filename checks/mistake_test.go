package checks

import (
	"slices"
	"testing"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// A violation that can follow from an earlier one belongs to its cause. Others have causes
// of their own.
func TestCauses(t *testing.T) {
	blamed := func(p Property, at int) Finding {
		return Finding{Property: p, Outcome: Violated, At: at, Events: []int{at}, Blame: BlameLock}
	}
	shown := blamed(LeaseExclusion, 2) // the mistake is that extend reports success for a lost lease
	shown.Reason.Code = Code(renewedAsIfAlone)
	for _, test := range []struct {
		name   string
		blamed []Finding
		want   [][]Property // for each cause, its properties
	}{
		{"no violation", nil, nil},
		{"a lease overlap and a section overlap at the same event", []Finding{blamed(SectionExclusion, 1), blamed(LeaseExclusion, 1)}, [][]Property{{LeaseExclusion, SectionExclusion}}},
		{"a lease overlap and a later lost update", []Finding{blamed(NoLostUpdate, 2), blamed(LeaseExclusion, 1)}, [][]Property{{LeaseExclusion, NoLostUpdate}}},
		{"a section overlap and a later lease overlap", []Finding{blamed(LeaseExclusion, 2), blamed(SectionExclusion, 1)}, [][]Property{{SectionExclusion}, {LeaseExclusion}}},
		{"a section overlap before the lease overlap that shows the mistake", []Finding{blamed(SectionExclusion, 1), shown}, [][]Property{{LeaseExclusion, SectionExclusion}}},
		{"missing progress and a lock's own key in the way, found later", []Finding{blamed(Progress, 1), blamed(OwnKeyInTheWay, 2)}, [][]Property{{OwnKeyInTheWay, Progress}}},
		{"a failed release and a lease overlap, which are unrelated", []Finding{blamed(ReleaseFails, 1), blamed(LeaseExclusion, 2)}, [][]Property{{ReleaseFails}, {LeaseExclusion}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := []trace.Event{{Seq: 1, Process: "c1"}, {Seq: 2, Process: "c2"}}
			var got [][]Property
			for _, c := range Causes(history.New(&trace.Trace{Events: events}), test.blamed) {
				var properties []Property
				for _, f := range c.Findings {
					properties = append(properties, f.Property)
				}
				got = append(got, properties)
			}
			if !slices.EqualFunc(got, test.want, slices.Equal[[]Property]) {
				t.Errorf("the causes are %v, want %v", got, test.want)
			}
		})
	}
}
