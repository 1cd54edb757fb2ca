package whatif_test

import (
	"errors"
	"slices"
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

// The borders are found up to the resolution, also where a narrow band lies between two
// others.
func TestFindBands(t *testing.T) {
	const ms = int64(time.Millisecond)
	r := parseRange(t, "1s..60s")
	bands, tried, err := whatif.FindBands(r, r.Steps(60), func(value int64) (string, error) {
		switch {
		case value <= 30_005*ms:
			return "safe", nil
		case value <= 30_006*ms:
			return "unsafe with both", nil
		case value <= 45_500*ms:
			return "unsafe", nil
		}
		return "safe", nil
	})
	want := []whatif.Band[string]{
		{1000 * ms, 30_005 * ms, "safe"},
		{30_006 * ms, 30_006 * ms, "unsafe with both"},
		{30_007 * ms, 45_500 * ms, "unsafe"},
		{45_501 * ms, 60_000 * ms, "safe"},
	}
	if err != nil || !slices.Equal(bands, want) {
		t.Errorf("the bands are %v, want %v; error %v", bands, want, err)
	}
	if tried < 61 || tried > 61+3*12 {
		t.Errorf("%d values were tried, want 61 and about a dozen for each border", tried)
	}
}

func TestFindBandsOfNumbers(t *testing.T) {
	r := parseRange(t, "1..7")
	bands, tried, err := whatif.FindBands(r, r.Steps(60), func(value int64) (bool, error) { return value%2 == 0, nil })
	if err != nil || len(bands) != 7 || tried != 7 {
		t.Errorf("%d values were tried, and the bands are %v, want each number once; error %v", tried, bands, err)
	}
}

func TestFindBandsStopsAtAnError(t *testing.T) {
	wrong := errors.New("wrong")
	tried := 0
	_, _, err := whatif.FindBands(parseRange(t, "1..7"), []int64{1, 7}, func(int64) (int, error) { tried++; return 0, wrong })
	if !errors.Is(err, wrong) || tried != 1 {
		t.Errorf("after %d values the error is %v, want %v after one", tried, err, wrong)
	}
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
