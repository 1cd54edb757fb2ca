package command

import "testing"

// The value of a flag is split at a comma, but not at one inside brackets or quotation marks.
func TestNewPair(t *testing.T) {
	for text, want := range map[string]pair{
		"":                              {},
		"redlock":                       {[2]string{"redlock", "redlock"}, false},
		"redlock,etcd":                  {[2]string{"redlock", "etcd"}, true},
		"1, 2":                          {[2]string{"1", "2"}, true},
		"{crash: redis-1, at: 3s}":      {[2]string{"{crash: redis-1, at: 3s}", "{crash: redis-1, at: 3s}"}, false},
		"[read x, write x],[read x]":    {[2]string{"[read x, write x]", "[read x]"}, true},
		`"a, b"`:                        {[2]string{`"a, b"`, `"a, b"`}, false},
		"client-1's keys expired,never": {[2]string{"client-1's keys expired", "never"}, true},
	} {
		if got, err := newPair("--set", text); err != nil || got != want {
			t.Errorf("%q is split into %+v, want %+v; error %v", text, got, want, err)
		}
	}
	for _, text := range []string{"a,b,c", "a,", ",b", ","} {
		if got, err := newPair("--set", text); err == nil {
			t.Errorf("%q is split into %+v, want an error", text, got)
		}
	}
}
