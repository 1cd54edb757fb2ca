package trace

import (
	"strings"
	"testing"
)

func TestParseWitness(t *testing.T) {
	for text, names := range map[string]string{
		"client-1's keys expired":                                 "client-1",
		"client-1's keys expired while client-1 was paused":       "client-1 client-1",
		"storage applied client-2's write while redis-1 was down": "client-2 redis-1",
		"client-1 acquired before client-2 acquired":              "client-1 client-2",
		"client-1 wrote after client-2 wrote, 2nd time":           "client-1 client-2",
		" client-1  paused ":                                      "client-1",
	} {
		w, err := ParseWitness(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		checkEqual(t, "String of "+text, w.String(), strings.Join(strings.Fields(text), " "))
		checkEqual(t, "Names of "+text, strings.Join(w.Names(), " "), names)
	}
	for _, bad := range []string{
		"", "client-1", "client-1 paused while client-1 was asleep", "client-1 paused while client-1", "client-1 paused while client-1's was paused",
		"before client-1 paused", "client-1 paused before", "client-1 paused before lunch", "client-1 paused after", "nothing while client-1 was paused",
	} {
		if w, err := ParseWitness(bad); err == nil {
			t.Errorf("%q was parsed as %q, want an error", bad, w)
		}
	}
}

func FuzzParseWitness(f *testing.F) {
	for _, s := range []string{
		"client-1's keys expired while client-1 was paused", "client-1 wrote after client-2 wrote", "5s after client-1 paused before client-2 paused",
		" while ", " before ", "a b while c was down", "client-1 paused while 's was paused",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w, err := ParseWitness(s)
		if err != nil {
			return
		}
		again, err := ParseWitness(w.String())
		if err != nil || !again.Equal(w) {
			t.Errorf("%q was parsed as %q, and that as %q, %v; want the same", s, w, again, err)
		}
	})
}
