package sim

import (
	"fmt"
	"math/big"
	"strings"
)

// A Rate is how much too fast a clock runs, in parts per billion. A clock with a negative
// rate runs too slowly.
type Rate int64

// Units of rates.
const (
	ppb     Rate = 1
	PPM          = 1_000 * ppb
	Percent      = 10_000_000 * ppb
)

// FastestRate is the largest allowed rate: 50% too fast. A clock that runs even faster would be
// broken, not drifting.
const FastestRate = 50 * Percent

// rateUnits are the units in which texts write rates, the largest first.
var rateUnits = []struct {
	name  string
	scale Rate
}{{"%", Percent}, {"ppm", PPM}, {"ppb", ppb}}

// ParseRate parses a rate in percent, parts per million or parts per billion, such as +2%,
// -500ppm or +3ppb. It returns an error if the text is not such a rate or not a whole
// number of parts per billion, or if the rate exceeds [FastestRate] in either direction.
func ParseRate(s string) (Rate, error) {
	for _, unit := range rateUnits {
		number, ok := strings.CutSuffix(strings.TrimSpace(s), unit.name)
		if !ok {
			continue
		}
		r, ok := new(big.Rat).SetString(strings.TrimSpace(number))
		if !ok {
			break
		}
		r.Mul(r, new(big.Rat).SetInt64(int64(unit.scale)))
		if !r.IsInt() || !r.Num().IsInt64() {
			return 0, fmt.Errorf("%q is not a whole number of parts per billion", s)
		}
		rate := Rate(r.Num().Int64())
		if rate.abs() > FastestRate {
			return 0, fmt.Errorf("%q is more than 50%%", s)
		}
		return rate, nil
	}
	return 0, fmt.Errorf("%q is not a rate: write +2%%, -500ppm or +3ppb", s)
}

// String returns the rate in the form that [ParseRate] parses, in the largest unit in which
// its absolute value is at least 0.1.
func (r Rate) String() string {
	unit := rateUnits[len(rateUnits)-1]
	for _, u := range rateUnits {
		if 10*r.abs() >= u.scale {
			unit = u
			break
		}
	}
	digits := new(big.Rat).SetFrac64(int64(r), int64(unit.scale)).FloatString(9)
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	if r > 0 {
		digits = "+" + digits
	}
	return digits + unit.name
}

func (r Rate) abs() Rate { return max(r, -r) }

// MarshalText returns the text of String.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses what [ParseRate] parses.
func (r *Rate) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRate(string(text))
	return err
}
