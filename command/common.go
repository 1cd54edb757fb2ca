package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/sim"
)

// worldFlags are the flags of every command that runs worlds.
type worldFlags struct {
	seed    uint64
	timeout time.Duration
}

// define adds the flags to a command.
func (f *worldFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 1, "selects the latencies and every random value")
	flags.DurationVar(&f.timeout, "timeout", sim.DefaultPatience, "give up on a world that takes longer than this in real time, or in which nothing happens for half of this time, but at least one second")
}

// check checks the values of the flags, before any file is read.
func (f *worldFlags) check() error {
	if f.timeout <= 0 {
		return fmt.Errorf("locksim: --timeout is %v; give a time longer than zero", f.timeout)
	}
	return nil
}

// commonFlags are the flags of every command that runs scenarios and reports the results. S is what
// the report is about.
type commonFlags[S any] struct {
	worldFlags
	writeFlags[S]
}

// define adds the flags to a command that writes a report; thing names the report in the help, and
// subject has the formats of the report.
func (f *commonFlags[S]) define(cmd *cobra.Command, thing string, subject *reports.Subject[S]) {
	f.worldFlags.define(cmd)
	f.writeFlags.define(cmd, thing, subject)
}

// check checks the values of the flags, also together with the format, before any file is
// read.
func (f *commonFlags[S]) check(format reports.Format[S]) error {
	if err := f.worldFlags.check(); err != nil {
		return err
	}
	return f.writeFlags.check(format)
}
