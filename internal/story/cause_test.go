package story

import "testing"

func TestCause(t *testing.T) {
	for want, cause := range map[string][]string{
		"no fault at all":                      nil,
		"a pause":                              {"a pause"},
		"a crash, twice":                       {"a crash", "a crash"},
		"a crash, a jump, 3 times and a pause": {"a crash", "a jump", "a jump", "a jump", "a pause"},
	} {
		if got := Cause(cause); got != want {
			t.Errorf("Cause(%q) is %q, want %q", cause, got, want)
		}
	}
}
