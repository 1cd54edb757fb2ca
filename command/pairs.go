package command

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/locks"
)

// pairFlags are the flags that say in what two runs differ. Each can have one value or two,
// with a comma between them.
type pairFlags struct {
	overrideFlags
	lock, seed, variant, fencing string
}

// sideValues are the values of the flags for one of the two runs.
type sideValues struct {
	overrides              overrideFlags
	lock, variant, fencing string
	seed                   uint64
	// isVariantShared reports whether the variant is for both of two scenarios. One of them
	// may have no variants.
	isVariantShared bool
}

// define adds the flags to a command.
func (f *pairFlags) define(cmd *cobra.Command) {
	f.overrideFlags.define(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.lock, "lock", "", "use this `kind` of lock instead of the scenario's own; or two, as in redlock,etcd")
	flags.StringVar(&f.seed, "seed", "", "the `number` that selects the latencies and every random value (default 1); or two, as in 1,2")
	flags.StringVar(&f.variant, "variant", "", "compare the variant of this `name`; or two of them")
	flags.StringVar(&f.fencing, "fencing", "", "compare the runs without fencing tokens (off) or with them (on); or one of each (off,on)")
	completeList(cmd, "lock", locks.Names())
	completeList(cmd, "fencing", fencings)
	completeWith(cmd, "variant", completeVariants)
}

// A pair has the values of a flag for the left and for the right run. isPair is false if the flag
// has one value or none; then left and right are equal.
type pair struct {
	values [2]string
	isPair bool
}

// newPair splits the value of a flag at its comma. A comma inside brackets or quotation
// marks is part of a value.
func newPair(flag, text string) (pair, error) {
	depth, quote := 0, rune(0)
	parts := []string{""}
	for _, r := range text {
		last := len(parts) - 1
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' && parts[last] == "":
			quote = r
		case r == '[' || r == '{':
			depth++
		case r == ']' || r == '}':
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, "")
			continue
		}
		parts[last] += string(r)
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	switch {
	case len(parts) > 2:
		return pair{}, fmt.Errorf("locksim diff: %s %s has %d values, and two runs are compared; give one value or two", flag, text, len(parts))
	case len(parts) == 2 && slices.Contains(parts, ""):
		return pair{}, fmt.Errorf("locksim diff: %s %s has a comma and one value; give the other value, or leave the comma out", flag, text)
	}
	return pair{[2]string{parts[0], parts[len(parts)-1]}, len(parts) == 2}, nil
}

// split returns the values for the left and for the right run. args are the arguments of the
// command.
func (f *pairFlags) split(args []string) ([2]sideValues, error) {
	var sides [2]sideValues
	isPaired := len(args) == 2
	var firstErr error
	put := func(flag, text string, set func(s *sideValues, value string)) {
		p, err := newPair(flag, text)
		firstErr = cmp.Or(firstErr, err)
		isPaired = isPaired || p.isPair
		for i := range sides {
			set(&sides[i], p.values[i])
		}
	}
	put("--lock", f.lock, func(s *sideValues, value string) { s.lock = value })
	put("--variant", f.variant, func(s *sideValues, value string) { s.variant = value })
	for i := range sides {
		sides[i].isVariantShared = len(args) == 2 && sides[0].variant == sides[1].variant
	}
	put("--fencing", f.fencing, func(s *sideValues, value string) { s.fencing = value })
	put("--ttl", f.ttl, func(s *sideValues, value string) { s.overrides.ttl = value })
	put("--nodes", f.nodes, func(s *sideValues, value string) { s.overrides.nodes = value })
	put("--pause", f.pause, func(s *sideValues, value string) { s.overrides.pause = value })
	for _, text := range f.sets {
		path, value, hasValue := strings.Cut(text, "=")
		put("--set", value, func(s *sideValues, value string) {
			if hasValue {
				value = path + "=" + value
			} else {
				value = path // applying it returns the error about the missing value
			}
			s.overrides.sets = append(s.overrides.sets, value)
		})
	}
	put("--seed", cmp.Or(f.seed, "1"), func(s *sideValues, value string) {
		seed, err := strconv.ParseUint(value, 10, 64)
		if err != nil && firstErr == nil {
			firstErr = fmt.Errorf("locksim diff: --seed is %q; it must be %s, or two of them, as in 1,2", f.seed, valueKinds["uint64"])
		}
		s.seed = seed
	})
	for i := range sides {
		firstErr = cmp.Or(firstErr, sides[i].check())
	}
	if !isPaired {
		// Both runs are of one scenario: the left one as it is, and the right one as the flags
		// change it.
		sides[0] = sideValues{variant: f.variant, fencing: f.fencing, seed: 1}
	}
	return sides, firstErr
}

// check checks the values, before any file is read.
func (s *sideValues) check() error {
	if s.lock != "" {
		if err := checkLock(s.lock); err != nil {
			return err
		}
	}
	return (&runChoice{fencing: s.fencing}).check()
}

// isChanged reports whether the values change the run of a scenario.
func (s *sideValues) isChanged() bool {
	o := s.overrides
	return s.lock != "" || s.seed != 1 || len(o.sets) > 0 || o.ttl != "" || o.nodes != "" || o.pause != ""
}
