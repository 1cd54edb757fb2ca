package reports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
)

// Replay is the command that runs a scenario in just this way again.
func Replay(s *scenarios.Scenario, ran scenarios.RunOptions, o Options) string {
	line := fmt.Sprintf("locksim run %s --seed %d", word(cmp.Or(o.Arguments[s], s.File)), ran.Seed)
	overrides := func(v *scenarios.Variant) bool { return v.Lock != ran.Lock }
	if ran.Lock != "" && slices.ContainsFunc(s.Variants, overrides) {
		line += " --lock " + word(ran.Lock)
	}
	return line
}

// replay is the command that gives a result again.
func replay(r *scenarios.Result, o Options) string {
	ran := scenarios.RunOptions{Seed: r.Seed}
	for _, run := range r.Runs {
		if run.Lock != run.Variant.Lock {
			ran.Lock = run.Lock
		}
	}
	return Replay(r.Scenario, ran, o)
}

var harmless = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// word writes s so that a shell takes it as one word. What does not print is
// shown escaped, as everywhere: such a name has to be typed by hand.
func word(s string) string {
	if s = visible(s); harmless.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
