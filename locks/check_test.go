package locks_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/fakeclock"
	"github.com/locksim/locksim/locks"
)

// Check refuses options and features that a kind of lock does not have, and invalid values.
func TestCheck(t *testing.T) {
	kind := locks.Kind{
		Name:     "mine",
		Accepts:  []string{"ask", "clock", "expects", "failures", "fallback", "node-timeout", "open-for"},
		Features: []string{"elapsed-check", "node-timeout", "extend"},
	}
	plain := locks.Kind{Name: "plain"}
	for _, o := range []locks.Options{
		{},
		{Ask: locks.OneByOne, Clock: fakeclock.Wall, NodeTimeout: time.Second, Without: []string{"elapsed-check", "extend"}},
		{Fallback: locks.Refuse},
		{Fallback: locks.GoAhead},
		{Fallback: locks.Local, Failures: 5, OpenFor: time.Minute, Expects: time.Second},
		{Ask: locks.AllAtOnce, Clock: fakeclock.Monotonic, Without: []string{"node-timeout"}},
	} {
		if err := kind.Check(o); err != nil {
			t.Errorf("Check(%+v) = %v, want no error", o, err)
		}
	}
	tests := []struct {
		kind    locks.Kind
		options locks.Options
		want    string
	}{
		{plain, locks.Options{Ask: locks.OneByOne}, `lock plain has no option "ask": it has no options`},
		{locks.Kind{Name: "some", Accepts: []string{"clock"}}, locks.Options{NodeTimeout: time.Second}, `lock some has no option "node-timeout": its options are clock`},
		{plain, locks.Options{Clock: fakeclock.Wall}, `lock plain has no option "clock": it has no options`},
		{plain, locks.Options{Without: []string{"extend"}}, `lock plain has no feature "extend" to turn off: it has no features`},
		{kind, locks.Options{Ask: "all-at-one"}, `option ask is "all-at-one": it must be one-by-one or all-at-once`},
		{kind, locks.Options{Clock: "sundial"}, `option clock is "sundial": it must be wall or monotonic`},
		{plain, locks.Options{Fallback: locks.Refuse}, `lock plain has no option "fallback": it has no options`},
		{kind, locks.Options{Fallback: "panic"}, `option fallback is "panic": it must be refuse or go-ahead or local`},
		{plain, locks.Options{Failures: 5}, `lock plain has no option "failures": it has no options`},
		{plain, locks.Options{OpenFor: time.Minute}, `lock plain has no option "open-for": it has no options`},
		{plain, locks.Options{Expects: time.Minute}, `lock plain has no option "expects": it has no options`},
		{kind, locks.Options{Failures: -1}, `option failures is -1: it must be positive, or left out for the default of lock mine`},
		{kind, locks.Options{OpenFor: -time.Minute}, `option open-for is -1m0s: it must be positive, or left out for the default of lock mine`},
		{kind, locks.Options{Expects: -time.Minute}, `option expects is -1m0s: it must be positive, or left out if the duration is unknown`},
		{kind, locks.Options{NodeTimeout: -time.Second}, `option node-timeout is -1s: it must be positive, or left out for the default of lock mine`},
		{kind, locks.Options{Without: []string{"extend", "elapsed-chek"}}, `lock mine has no feature "elapsed-chek" to turn off: its features are elapsed-check, node-timeout, extend`},
		{kind, locks.Options{Without: []string{"Extend"}}, `lock mine has no feature "Extend" to turn off: its features are elapsed-check, node-timeout, extend`},
		{kind, locks.Options{Without: []string{"fencing"}}, `lock mine has no feature "fencing" to turn off: its features are elapsed-check, node-timeout, extend`},
		{kind, locks.Options{Without: []string{"extend", "extend"}}, `feature "extend" is turned off twice: remove one`},
		{kind, locks.Options{NodeTimeout: time.Second, Without: []string{"node-timeout"}}, `option node-timeout is 1s, but the feature "node-timeout" is turned off: leave one of the two out`},
	}
	for _, test := range tests {
		if err := test.kind.Check(test.options); err == nil || err.Error() != test.want {
			t.Errorf("Check(%+v):\n got %v\nwant %s", test.options, err, test.want)
		}
	}
}

func TestRegisterTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second kind of lock with the name single was registered, want a panic")
		}
	}()
	locks.Register(locks.Kind{Name: "single", Adapter: "example.com/single"})
}
