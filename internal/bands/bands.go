// Package bands finds the borders between the values of a quantity that have different
// outcomes.
package bands

// A Band is a part of a range in which every value that was tried has the same outcome.
type Band[O comparable] struct {
	// From and To are the first and the last value of the band that were tried. The border
	// to the next band lies between To and the next From.
	From, To int64
	Outcome  O
}

// Find calls try for values, which are in ascending order, to get their outcomes. Where two
// neighbours have different outcomes, it looks between them, by bisection, for the border and for
// further outcomes. It does not look between two neighbours with the same outcome. split returns a
// value strictly between low and high; ok is false if they are so close that the border is known
// exactly enough. Find returns the bands in order, and how many values it tried. An error of try
// ends it.
func Find[O comparable](values []int64, split func(low, high int64) (middle int64, ok bool), try func(value int64) (O, error)) (bands []Band[O], tried int, err error) {
	type sample struct {
		value   int64
		outcome O
	}
	sampleAt := func(value int64) (sample, error) {
		tried++
		o, err := try(value)
		return sample{value, o}, err
	}
	add := func(s sample) {
		if last := len(bands) - 1; last >= 0 && bands[last].Outcome == s.outcome {
			bands[last].To = s.value
			return
		}
		bands = append(bands, Band[O]{s.value, s.value, s.outcome})
	}
	// searchBetween tries values between two samples, and adds them without the two samples.
	var searchBetween func(low, high sample) error
	searchBetween = func(low, high sample) error {
		if low.outcome == high.outcome {
			return nil
		}
		value, ok := split(low.value, high.value)
		if !ok {
			return nil
		}
		middle, err := sampleAt(value)
		if err != nil {
			return err
		}
		if err := searchBetween(low, middle); err != nil {
			return err
		}
		add(middle)
		return searchBetween(middle, high)
	}
	var last sample
	for i, value := range values {
		s, err := sampleAt(value)
		if err != nil {
			return nil, tried, err
		}
		if i > 0 {
			if err := searchBetween(last, s); err != nil {
				return nil, tried, err
			}
		}
		add(s)
		last = s
	}
	return bands, tried, nil
}
