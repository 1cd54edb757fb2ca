package locks_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/locksim/locksim/locks"
)

// allZeros and allOnes return the smallest and the greatest random value.
func allZeros() io.Reader { return bytes.NewReader(make([]byte, 8)) }
func allOnes() io.Reader  { return bytes.NewReader(bytes.Repeat([]byte{0xff}, 8)) }

func TestPauses(t *testing.T) {
	const s = time.Second
	tests := []struct {
		retry       locks.Retry
		base        time.Duration
		failed      int           // number of failed attempts
		least, most time.Duration // the pause with the smallest and with the greatest random value
	}{
		{locks.Fixed, s, 1, s, s},
		{locks.Fixed, s, 100, s, s},
		{locks.Fixed, 0, 1, 1, 1},
		{locks.Jitter, -s, 1, 1, 1},
		{locks.Jitter, s, 1, 1, 2*s - 1},
		{locks.Jitter, s, 100, 1, 2*s - 1},
		{locks.Jitter, 1, 1, 1, 1},
		{locks.Linear, s, 1, s, s},
		{locks.Linear, s, 3, 3 * s, 3 * s},
		{locks.Linear, s, 32, 32 * s, 32 * s},
		{locks.Linear, s, math.MaxInt32, 32 * s, 32 * s},
		{locks.Exponential, s, 1, s, s},
		{locks.Exponential, s, 2, 2 * s, 2 * s},
		{locks.Exponential, s, 5, 16 * s, 16 * s},
		{locks.Exponential, s, 6, 32 * s, 32 * s},
		{locks.Exponential, s, 7, 32 * s, 32 * s},
		{locks.Exponential, s, math.MaxInt32, 32 * s, 32 * s},
		{locks.ExponentialJitter, s, 1, 1, s},
		{locks.ExponentialJitter, s, 3, 1, 4 * s},
		{locks.ExponentialJitter, s, 9, 1, 32 * s},
		{locks.ExponentialTenth, s, 1, s, s + s/10},
		{locks.ExponentialTenth, s, 3, 4 * s, 4*s + 4*s/10},
		{locks.ExponentialTenth, s, 9, 32 * s, 32*s + 32*s/10},
		{locks.ExponentialTenth, 1, 1, 1, 1},
	}
	for _, test := range tests {
		for _, draw := range []struct {
			random io.Reader
			want   time.Duration
		}{{allZeros(), test.least}, {allOnes(), test.most}} {
			got, err := test.retry.Pause(test.base, test.failed, draw.random)
			if got != draw.want || err != nil {
				t.Errorf("%s with base %v after %d failures pauses for %v (%v), want %v",
					test.retry, test.base, test.failed, got, err, draw.want)
			}
		}
	}
}

// The two retries that are completely random draw uniformly from their whole range. So they
// have the mean that their documentation promises.
func TestPausesAreUniform(t *testing.T) {
	const draws = 10_000
	random := rand.NewChaCha8([32]byte{})
	for retry, mean := range map[locks.Retry]time.Duration{
		locks.Jitter:            time.Second,
		locks.ExponentialJitter: 2 * time.Second, // any time up to four seconds
	} {
		var sum time.Duration
		tenths := make([]int, 10)
		for range draws {
			pause, err := retry.Pause(time.Second, 3, random)
			if err != nil {
				t.Fatal(err)
			}
			sum += pause
			tenths[(pause-1)*10/(2*mean)]++
		}
		// The standard error of the mean is 0.6 % of the mean, and that of the count in a
		// tenth of the range is 3 %.
		if got := sum / draws; got < mean*97/100 || got > mean*103/100 {
			t.Errorf("%s pauses for %v on average, want %v", retry, got, mean)
		}
		if slices.Min(tenths) < draws/10*85/100 || slices.Max(tenths) > draws/10*115/100 {
			t.Errorf("%s: pauses by tenths of the range are %v, want all about %d", retry, tenths, draws/10)
		}
	}
}

// Every retry that Retries lists can pause. An unknown retry and a failing random source
// are errors.
func TestRetries(t *testing.T) {
	for _, retry := range locks.Retries() {
		if _, err := retry.Pause(time.Second, 1, allOnes()); err != nil {
			t.Error(err)
		}
	}
	_, err := locks.Retry("often").Pause(time.Second, 1, allOnes())
	if want := `"often" is not a way to retry: it must be one of [fixed jitter linear exponential exponential-jitter exponential-tenth]`; err == nil || err.Error() != want {
		t.Errorf("the error of an unknown retry is %v, want %s", err, want)
	}
	broken := errors.New("broken")
	if _, err := locks.Jitter.Pause(time.Second, 1, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("with a failing random source Pause returned %v, want its error", err)
	}
}
