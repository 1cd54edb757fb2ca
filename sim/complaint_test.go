package sim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// The trace contains the error of a program as a complaint if it is about the lock. Any
// other error of a program adds no complaint.
func TestComplaints(t *testing.T) {
	no := errors.New("no lock today")
	fails := func(err error) sim.Client {
		return sim.Client{Name: "client-1", Run: func(context.Context, *sim.Program) error { return err }}
	}
	broken := locks.Kind{
		Name: "broken", New: func(*locks.Env) (locks.Lock, error) { return nil, no },
		Slots: func(string, int) ([]locks.Slot, int) { return nil, 0 },
	}
	with := func(kind locks.Kind, c sim.Client) sim.Config {
		cfg := ToyWorld(c)
		cfg.Lock = sim.Lock{Kind: kind, Key: "lock", TTL: 10e9}
		return cfg
	}
	breach := &sim.Breach{Rule: "manners", Why: "it was rude"}
	for _, c := range []struct {
		what   string
		config sim.Config
		want   []trace.Complaint
		text   string // the text of the event with which client-1 ends
	}{
		{"the program returns a breach", ToyWorld(fails(fmt.Errorf("at last: %w", breach))), []trace.Complaint{{Client: "client-1", Rule: "manners", Why: "it was rude"}}, "at last: manners | it was rude"},
		{"the program returns another error", ToyWorld(fails(no)), nil, "no lock today"},
		{"the program returns no error", ToyWorld(fails(nil)), nil, ""},
		{
			"the lock cannot be made", with(broken, fails(nil)),
			[]trace.Complaint{{Client: "client-1", Rule: trace.CannotMake, Why: "cannot make the lock: no lock today"}}, "cannot make the lock: no lock today",
		},
	} {
		tr := RunWorld(t, c.config)
		if !slices.Equal(tr.Complaints, c.want) {
			t.Errorf("%s: the complaints are %+v, want %+v", c.what, tr.Complaints, c.want)
		}
		Equal(t, c.what+": the text with which client-1 ends", OnlyEvent(t, tr, trace.KindDone, "client-1").Text, c.text)
	}
}
