package whatif_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/internal/whatif"
)

func parseRange(t *testing.T, text string) whatif.Range {
	t.Helper()
	r, isRange, err := whatif.ParseRange(text)
	if err != nil || !isRange {
		t.Fatalf("%s is a range: %v, error %v", text, isRange, err)
	}
	return r
}

func TestParseRange(t *testing.T) {
	for text, resolution := range map[string]time.Duration{"1s..60s": time.Millisecond, "0s..1ms": time.Microsecond, "1m..24h": time.Second, "-1s..1s": 10 * time.Microsecond} {
		if r := parseRange(t, text); time.Duration(r.Resolution) != resolution {
			t.Errorf("the resolution of %s is %v, want %v", text, time.Duration(r.Resolution), resolution)
		}
	}
	for _, text := range []string{"1..x", "1s..2", "5s..1s", "1s..1s", "..", "1s..", "99999999999..99999999999999", "-9000000000s..9000000000s"} {
		if _, isRange, err := whatif.ParseRange(text); !isRange || err == nil {
			t.Errorf("%s is accepted as a range", text)
		}
	}
	for _, text := range []string{"20s", "client-1 write", ""} {
		if _, isRange, err := whatif.ParseRange(text); isRange || err != nil {
			t.Errorf("%q is taken for a range (error %v)", text, err)
		}
	}
}
