package reports_test

import (
	"context"
	"strings"
	"testing"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// misbehaving is the lock single with a mistake: acquire first calls the function also.
type misbehaving struct {
	locks.Lock
	also func()
}

func (m misbehaving) Acquire(ctx context.Context) (locks.Lease, error) {
	m.also()
	return m.Lock.Acquire(ctx)
}

// A lock that leaves a goroutine behind or panics is still reported. Its verdict is
// unknown, and the report gives the reason.
func TestMisbehavingLock(t *testing.T) {
	single, _ := locks.Lookup("single")
	for name, test := range map[string]struct {
		also func()
		says string
	}{
		"leaky":   {func() { go func() { select {} }() }, "goroutines outlived the world"},
		"panicky": {func() { panic("out of cheese") }, "out of cheese"},
	} {
		kind := single
		kind.Name = name
		kind.New = func(env *locks.Env) (locks.Lock, error) {
			lock, err := single.New(env)
			return misbehaving{lock, test.also}, err
		}
		locks.Register(kind)
		s, err := scenarios.Open("no-faults")
		if err != nil {
			t.Fatal(err)
		}
		result, err := scenarios.Run(s, scenarios.RunOptions{Seed: 1, Lock: name})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if v := result.Runs[0].Verdict.Verdict; v != checks.Undecided {
			t.Errorf("%s: the verdict is %s, want unknown", name, v)
		}
		var report strings.Builder
		text, _ := reports.Runs.Lookup("text")
		if err := text.Write(&report, []*scenarios.Result{result}, reports.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(report.String()), " "); !strings.Contains(got, test.says) {
			t.Errorf("%s: the report does not contain %q:\n%s", name, test.says, report.String())
		}
	}
}
