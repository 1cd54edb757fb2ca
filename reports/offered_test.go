package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// The runs meet the expectation that their report offers: each built-in scenario is as
// expected if its expectations are replaced by the offered block.
func TestOfferedExpectation(t *testing.T) {
	offered := 0
	for i, s := range scenarios.Embedded() {
		if len(s.Variants) > 1 || testing.Short() && i%8 > 0 {
			continue
		}
		run := func(text string) (*scenarios.Result, error) {
			own, err := scenarios.Parse("own.yaml", []byte(text))
			if err != nil {
				return nil, fmt.Errorf("%w\n%s", err, text)
			}
			return scenarios.Run(own, scenarios.RunOptions{Seed: 1})
		}
		d := s.Variants[0].Document()
		d.Delete("expect")
		d.Delete("expect-with")
		text := string(d.Bytes())
		r, err := run(text)
		if err != nil {
			continue // the program lacks the lock
		}
		offer := offeredExpectation(r.Runs)
		if offer == "" {
			t.Errorf("%s: nothing is offered", s.Name)
			continue
		}
		offered++
		var pasted strings.Builder
		for line := range strings.Lines(offer) {
			pasted.WriteString(strings.TrimPrefix(line, "  "))
		}
		if r, err := run(text + pasted.String()); err != nil || StandingOf(r) != AsExpected {
			t.Errorf("%s: with the offered expectation it is not as expected (error %v):\n%s", s.Name, err, offer)
		}
	}
	if offered < 5 {
		t.Errorf("only %d scenarios were tried", offered)
	}
}
