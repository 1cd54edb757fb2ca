package story

import "testing"

func TestWhatIsDoneInTurn(t *testing.T) {
	for _, test := range []struct {
		does []string
		want string
	}{
		{nil, ""},
		{[]string{"reads"}, "reads"},
		{[]string{"reads", "writes"}, "reads and writes"},
		{[]string{"reads", "writes", "releases"}, "reads, writes and releases"},
		{[]string{"gets the lock on redis-1 and redis-2", "reads"}, "gets the lock on redis-1 and redis-2, and reads"},
		{[]string{"wakes up", "writes over it, which is lost"}, "wakes up and writes over it, which is lost"},
	} {
		if got := joinActions(test.does); got != test.want {
			t.Errorf("%v is %q, not %q", test.does, got, test.want)
		}
	}
}
