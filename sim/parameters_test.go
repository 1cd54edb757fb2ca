package sim_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// WithSize keeps the sign and the unit, and does not change the original fault.
func TestWithSize(t *testing.T) {
	for _, tt := range []struct {
		is   sim.Fault
		size sim.Size
		want sim.Action
		last time.Duration // expected For of the result
	}{
		{sim.Fault{Action: &sim.Pause{Process: "p"}, For: 1}, sim.Size{Time: 7}, &sim.Pause{Process: "p"}, 7},
		{sim.Fault{Action: &sim.Jump{Process: "p", By: 5}}, sim.Size{Time: 7}, &sim.Jump{Process: "p", By: 7}, 0},
		{sim.Fault{Action: &sim.Jump{Process: "p", By: -5}}, sim.Size{Time: 7}, &sim.Jump{Process: "p", By: -7}, 0},
		{sim.Fault{Action: &sim.Drift{Process: "p", Rate: -5}, For: 3}, sim.Size{Rate: 7}, &sim.Drift{Process: "p", Rate: -7}, 3},
		{sim.Fault{Action: &sim.Delay{Process: "p", To: "q", By: 5}, For: 5}, sim.Size{Time: 7}, &sim.Delay{Process: "p", To: "q", By: 7}, 7},
	} {
		before := tt.is.Parts()
		got := tt.is.WithSize(tt.size)
		if !reflect.DeepEqual(got.Action, tt.want) || got.For != tt.last || got.Size() != tt.size {
			t.Errorf("%+v with the size %s is %+v for %v, of the size %s; want %+v for %v", before, tt.size, got.Action, got.For, got.Size(), tt.want, tt.last)
		}
		if !reflect.DeepEqual(tt.is.Parts(), before) {
			t.Errorf("WithSize has changed its receiver from %+v to %+v", before, tt.is.Parts())
		}
	}
}

// WithNames changes the names everywhere, also in the message and the trigger.
func TestWithNames(t *testing.T) {
	name := func(old string) string { return strings.Replace(old, "redis-", "node-", 1) }
	for _, p := range []sim.Parts{
		{Kind: "pause", Target: "redis-1", How: "suspend"},
		{Kind: "partition", Target: "client-1", Others: []string{"redis-1", "storage"}, How: "to"},
		{Kind: "reset", Target: "client-1", Others: []string{"redis-2"}},
		{Kind: "hold", Target: "client-1's acquire request to redis-3, 2nd time"},
		{Kind: "stall", Target: "client-1", Step: "read"},
		{Kind: "drift", Target: "redis-1", Rate: -sim.Percent},
	} {
		f, err := p.Fault()
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Parts(); !reflect.DeepEqual(got, p) {
			t.Errorf("the parts of the fault of %+v are %+v, want the same", p, got)
		}
		want := p
		want.Target, want.Others = name(p.Target), nil
		want.Target = strings.ReplaceAll(p.Target, "redis-", "node-")
		for _, other := range p.Others {
			want.Others = append(want.Others, name(other))
		}
		f.Strikes.When = Point("client-1 holds redis-1")
		again := f.WithNames(name)
		if got := again.Parts(); !reflect.DeepEqual(got, want) || again.Strikes.String() != "when client-1 holds node-1" {
			t.Errorf("%+v with new names is %+v, and strikes %s; want %+v, when client-1 holds node-1", p, got, again.Strikes, want)
		}
	}
}

// Parts.Fault refuses a kind that does not exist, and parts that the kind does not have.
func TestPartsRefused(t *testing.T) {
	for want, p := range map[string]sim.Parts{
		"no kind of fault":        {Kind: "shrug", Target: "p"},
		"a pause has no others":   {Kind: "pause", Target: "p", Others: []string{"q"}},
		"a jump has no how":       {Kind: "jump", Target: "p", How: "far"},
		"a pause has no size":     {Kind: "pause", Target: "p", By: 1},
		"size of a drift is no":   {Kind: "drift", Target: "p", By: 1},
		"others is empty":         {Kind: "reset", Target: "p"},
		"selects no message":      {Kind: "hold", Target: "nonsense"},
		"a partition has no step": {Kind: "partition", Target: "p", Others: []string{"q"}, Step: "read"},
	} {
		if _, err := p.Fault(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: the error is %v, want one about %q", p, err, want)
		}
	}
}
