package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/scenarios"
)

// commonFlags are the flags of every command that runs scenarios and writes what
// came of them.
type commonFlags struct {
	seed    uint64
	format  string
	output  string
	timeout time.Duration
}

// define adds the flags to a command that writes a thing, such as "report".
func (f *commonFlags) define(cmd *cobra.Command, thing, formats string, names []string) {
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 1, "selects the latencies and every random value")
	flags.StringVar(&f.format, "format", "text", formats)
	flags.StringVarP(&f.output, "output", "o", "", "write the "+thing+" to this `file`, as a whole or not at all")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "give up on a world in which nothing moves for this long in real time")
	complete(cmd, "format", names)
}

// check sees that the flags make sense, before anything is read.
func (f *commonFlags) check() error {
	if f.timeout <= 0 {
		return fmt.Errorf("locksim: --timeout is %v; give a time longer than zero", f.timeout)
	}
	return checkOutput(f.output)
}

// chosen is the format of a name. The error of one that is not known says which
// was probably meant.
func chosen[F any](name string, formats []F, nameOf func(F) string) (F, error) {
	if i := slices.IndexFunc(formats, func(f F) bool { return nameOf(f) == name }); i >= 0 {
		return formats[i], nil
	}
	var none F
	return none, fmt.Errorf("locksim: there is no format %q; %s", name, scenarios.DidYouMean(name, names(formats, nameOf)))
}

func names[F any](formats []F, nameOf func(F) string) []string {
	list := make([]string, len(formats))
	for i, f := range formats {
		list[i] = nameOf(f)
	}
	return list
}
