package bands_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/locksim/locksim/internal/bands"
)

// halve returns the value in the middle of two others.
func halve(low, high int64) (middle int64, ok bool) {
	middle = low + (high-low)/2
	return middle, low < middle && middle < high
}

// The borders are found, also where a narrow band lies between two others.
func TestFind(t *testing.T) {
	var values []int64
	for n := range int64(60) {
		values = append(values, 1000*(n+1))
	}
	found, tried, err := bands.Find(values, halve, func(value int64) (string, error) {
		switch {
		case value <= 30_005:
			return "safe", nil
		case value <= 30_006:
			return "unsafe with both", nil
		case value <= 45_500:
			return "unsafe", nil
		}
		return "safe", nil
	})
	want := []bands.Band[string]{
		{From: 1000, To: 30_005, Outcome: "safe"},
		{From: 30_006, To: 30_006, Outcome: "unsafe with both"},
		{From: 30_007, To: 45_500, Outcome: "unsafe"},
		{From: 45_501, To: 60_000, Outcome: "safe"},
	}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("the bands are %v, want %v; error %v", found, want, err)
	}
	if tried < 60 || tried > 60+3*12 {
		t.Errorf("%d values were tried, want 60 and about a dozen for each border", tried)
	}
}

func TestFindInNumbers(t *testing.T) {
	found, tried, err := bands.Find([]int64{1, 2, 3, 4, 5, 6, 7}, halve, func(value int64) (bool, error) { return value%2 == 0, nil })
	if err != nil || len(found) != 7 || tried != 7 {
		t.Errorf("%d values were tried, and the bands are %v, want each number once; error %v", tried, found, err)
	}
}

func TestFindStopsAtAnError(t *testing.T) {
	wrong := errors.New("wrong")
	tried := 0
	_, _, err := bands.Find([]int64{1, 7}, halve, func(int64) (int, error) { tried++; return 0, wrong })
	if !errors.Is(err, wrong) || tried != 1 {
		t.Errorf("after %d values the error is %v, want %v after one", tried, err, wrong)
	}
}
