package story

import "testing"

func TestJoinActions(t *testing.T) {
	for _, test := range []struct {
		actions []string
		want    string
	}{
		{nil, ""},
		{[]string{"reads"}, "reads"},
		{[]string{"reads", "writes"}, "reads and writes"},
		{[]string{"reads", "writes", "releases"}, "reads, writes and releases"},
		{[]string{"gets the lock on redis-1 and redis-2", "reads"}, "gets the lock on redis-1 and redis-2, and reads"},
		{[]string{"wakes up", "writes over it, which is lost"}, "wakes up and writes over it, which is lost"},
	} {
		if got := joinActions(test.actions); got != test.want {
			t.Errorf("joinActions(%q) is %q, want %q", test.actions, got, test.want)
		}
	}
}
