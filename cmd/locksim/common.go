package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// writeFlags are the flags of every command that writes a report.
type writeFlags struct {
	format, output string
	// filling are the formats that can fill a folder.
	filling []string
}

// define adds the flags to a command that writes a thing, such as "report".
func (f *writeFlags) define(cmd *cobra.Command, thing, formats string, names []string) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "text", formats)
	flags.VarP((*outputName)(&f.output), "output", "o", "write the "+thing+" to this `file`, as a whole or not at all; - is standard output")
	complete(cmd, "format", names)
}

// check sees that the flags make sense, before anything is read.
func (f *writeFlags) check() error {
	if isFolder(f.output) {
		return f.noFolder()
	}
	return checkOutput(f.output)
}

// noFolder refuses a folder of a format that is one file.
func (f *writeFlags) noFolder() error {
	remedy := "name a file in it"
	if _, err := os.Stat(f.output); err != nil {
		remedy = "leave the slash out"
	}
	if len(f.filling) > 0 {
		remedy += ", or fill it with --format " + strings.Join(f.filling, ", ")
	}
	return fmt.Errorf("locksim: -o %s is a folder, and --format %s writes one file; %s", f.output, f.format, remedy)
}

// worldFlags are the flags of every command that runs worlds.
type worldFlags struct {
	seed    uint64
	timeout time.Duration
}

// define adds the flags to a command.
func (f *worldFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 1, "selects the latencies and every random value")
	flags.DurationVar(&f.timeout, "timeout", sim.DefaultPatience, "give up on a world that takes longer than this in real time, or in which nothing moves for half of it")
}

// check sees that the flags make sense, before anything is read.
func (f *worldFlags) check() error {
	if f.timeout <= 0 {
		return fmt.Errorf("locksim: --timeout is %v; give a time longer than zero", f.timeout)
	}
	return nil
}

// commonFlags are the flags of every command that runs scenarios and writes what
// came of them.
type commonFlags struct {
	worldFlags
	writeFlags
}

// define adds the flags to a command that writes a thing, such as "report".
func (f *commonFlags) define(cmd *cobra.Command, thing, formats string, names []string) {
	f.worldFlags.define(cmd)
	f.writeFlags.define(cmd, thing, formats, names)
}

// check sees that the flags make sense, before anything is read.
func (f *commonFlags) check() error {
	if err := f.worldFlags.check(); err != nil {
		return err
	}
	return f.writeFlags.check()
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
