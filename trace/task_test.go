package trace

import (
	"slices"
	"testing"
)

func TestParseTask(t *testing.T) {
	for text, want := range map[string]Task{
		"work":                          {Step: Work},
		"check":                         {Step: Check},
		"mint":                          {Step: Mint},
		"release-again":                 {Step: Release},
		"read x":                        {Step: Read, Object: "x"},
		"recall":                        {Step: Read, Object: PeriodRecord, Note: Recall},
		"remember":                      {Step: Write, Object: PeriodRecord, Note: Remember},
		"claim":                         {Step: Write, Object: PeriodRecord, Note: Claim},
		"mark  file-1":                  {Step: Mark, Object: "file-1"},
		"acquire b":                     {Step: Acquire, Lock: "b"},
		"try b":                         {Step: Acquire, Lock: "b", Once: true},
		"write x via proxy":             {Step: Write, Object: "x", Via: []string{"proxy"}},
		"write x via proxy and billing": {Step: Write, Object: "x", Via: []string{"proxy", "billing"}},
	} {
		got, err := ParseTask(text)
		if err != nil || got.Step != want.Step || got.Object != want.Object || got.Note != want.Note || got.Lock != want.Lock || got.Once != want.Once || !slices.Equal(got.Via, want.Via) {
			t.Errorf("%q is parsed as %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := ParseTask(got.String()); err != nil || again.String() != got.String() {
			t.Errorf("%q is written as %q, which is parsed as %+v, %v; want the same", text, got, again, err)
		}
	}
	for _, text := range []string{
		"", "x", "acquire", "try", "acquire a b", "try b via proxy", "release", "extend", "read", "write", "work hard", "mint x", "recall x", "claim via proxy", "release-again x", "check via proxy",
		"write x via", "write x through proxy", "write x via a b", "write x via a and", "write x via a or b", "write via proxy",
	} {
		if got, err := ParseTask(text); err == nil {
			t.Errorf("%q is parsed as %+v, want an error", text, got)
		}
	}
}
