// Package command is the command locksim without the locks of libraries. It knows all locks
// by name, and runs those that the program imports. A program with a lock of its own on
// Redis and one of a library is
//
//	package main
//
//	import (
//		"github.com/locksim/locksim/command"
//		_ "github.com/locksim/locksim/libraries/redsync"
//
//		_ "example.com/mine/lock" // its init calls locks.Register
//	)
//
//	func main() { command.Main() }
package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/scenarios"
)

// The exit statuses.
const (
	success      = 0 // every verdict is as its scenario expects
	unexpected   = 1 // some verdict differs or is unknown, or a run failed
	badInput     = 2 // bad usage or a bad scenario: nothing was run or written
	statusesHelp = `Exit status:
  0  every verdict is as its scenario expects, or nothing is expected
  1  some verdict is not as expected, or is unknown
  2  bad usage or a bad scenario; nothing was run`
)

// Main runs the command with the arguments of the process, and ends the process with the
// command's exit status.
func Main() {
	// A world lasts a millisecond and leaves megabytes of garbage, most of it from the Lua
	// interpreter. With so small a heap the collector would run for every second world. The
	// memory limit keeps a large world from using nine times its size.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(600 << 20)
	}
	os.Exit(locksim(os.Args[1:], os.Stdout, os.Stderr))
}

// A failure is an error that ends the program with a status other than badInput. Its err is
// nil if the report already contains everything.
type failure struct {
	status int
	err    error
}

func (f failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f failure) Unwrap() error { return f.err }

// locksim runs the program and returns its exit status.
func locksim(args []string, stdout, stderr io.Writer) int {
	printed := &printer{Writer: stdout}
	root := rootCommand(printed, stderr)
	root.SetArgs(args)
	err := root.Execute()
	var f failure
	if printed.err != nil && !errors.As(err, &f) {
		err = outputError(printed.err)
	}
	if f := fileOf(printed); printed.used && f != nil && isDiscarded(f) {
		// The status stays as it is: a parent that wants only the status may have opened
		// /dev/null in this way.
		fmt.Fprintln(stderr, "locksim: what was printed is lost: standard output is closed, or it is /dev/null; write to a file with -o FILE or > FILE")
	}
	if err == nil {
		return success
	}
	var missing notLinkedError
	if errors.As(err, &missing) {
		err = missing.withRemedy(args)
	}
	if err.Error() != "" {
		printError(stderr, err)
	}
	if errors.As(err, &f) {
		return f.status
	}
	return badInput
}

func rootCommand(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "locksim",
		Short: "Show how distributed locks fail, and what fencing tokens do about it",
		Long: `locksim runs real lock clients against Redis nodes in a simulated world, in
virtual time. A scenario pauses, partitions, crashes or misleads them at the
worst moment; locksim shows what happened, in order, and says which properties
held, without fencing tokens and with them.`,
		Example: `  locksim list
  locksim explain gc-pause
  locksim run gc-pause
  locksim matrix
  locksim explore --lock redlock
  locksim run scenarios/gc-pause.yaml --lock redsync --seed 7`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          refuseUnknown,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(explainFlagError)
	root.AddCommand(runCommand(), reportCommand(), explainCommand(), matrixCommand(), compareCommand(), exploreCommand(), mergeCommand(), exploreWorkerCommand(), listCommand(), validateCommand(), versionCommand())
	root.SetOut(stdout)
	root.SetErr(stderr)
	requireShell(root) // it prints to the output that is set by now
	return root
}

// refuseArguments refuses arguments of a command that takes none.
func refuseArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s: it takes no arguments, but %q was given", cmd.CommandPath(), args[0])
	}
	return nil
}

// outputError returns the failure of a command that could not write its output.
func outputError(err error) error {
	if err == nil {
		return nil
	}
	return failure{unexpected, fmt.Errorf("locksim: %w", err)}
}

// refuseUnknown refuses a word that is not a command, and suggests what was meant.
func refuseUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if isBuiltIn(word) {
		return fmt.Errorf("locksim: %q is a scenario, not a command; to run it: locksim run %s", word, word)
	}
	return fmt.Errorf("locksim: there is no command %q; %s", word, scenarios.DidYouMean(word, names))
}
