// Package command is the command locksim as a library. It knows all locks by name, and runs
// those that the program imports. This program has the locks of this project, the locks of
// the library redsync, and a lock of its own on Redis:
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
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locksim/locksim/scenarios"
)

// These are the exit statuses.
const (
	success      = 0 // every verdict is as its scenario expects
	unexpected   = 1 // a verdict is unknown or not as expected, or a run failed
	badInput     = 2 // the command line or a scenario is wrong: nothing was run or written
	statusesHelp = `Exit status:
  0  every verdict is as its scenario expects, or nothing is expected
  1  some verdict is not as expected, or is unknown
  2  bad usage or a bad scenario; nothing was run`
)

// Main runs the command with the arguments of the process, and ends the process with the
// command's exit status.
func Main() {
	// A world, which is one simulation, takes a millisecond and leaves megabytes of garbage, most
	// of it from the Lua interpreter. By default the heap would stay small, and the garbage
	// collector would run for every second world. Therefore the heap may grow to nine times what is
	// in use. The memory limit prevents that for a large world.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(600 << 20)
	}
	os.Exit(locksim(os.Args[1:], os.Stdout, os.Stderr))
}

// A failure is an error that ends the program with another status than badInput. err is nil
// if the report already says what is wrong.
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
	err := refuseHelpAboutUnknown(root, args)
	if err == nil {
		err = root.Execute()
	}
	var f failure
	if printed.err != nil && !errors.As(err, &f) {
		err = outputError(printed.err)
	}
	if f := fileOf(printed); printed.used && f != nil && isDiscarded(f) {
		// This does not change the exit status: a parent process that needs only the status
		// may have opened /dev/null in the way that isDiscarded recognizes.
		fmt.Fprintln(stderr, "locksim: the output was lost: standard output is closed, or it is /dev/null; write to a file with -o FILE or > FILE")
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

// rootCommand returns the command with all its subcommands.
func rootCommand(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "locksim",
		Short: "Show how distributed locks fail, and what fencing tokens do about it",
		Long: `locksim runs real lock clients in virtual time, against simulated Redis, etcd,
ZooKeeper, Consul, PostgreSQL and Kubernetes servers, and on SQLite files. A
scenario pauses, partitions or crashes a client or a server, or sets a clock, at
the worst moment; locksim shows what happened, in order, and says which properties
held, without fencing tokens and with them.`,
		Example: `  locksim list
  locksim explain gc-pause
  locksim learn
  locksim ask
  locksim run gc-pause
  locksim matrix
  locksim explore --lock redlock
  locksim run scenarios/gc-pause.yaml --lock redsync --seed 7`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          refuseUnknown,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: refuseEmptyValues,
	}
	root.SetFlagErrorFunc(explainFlagError)
	width := min(cmp.Or(chooseWidth(stdout), helpWidth), helpWidth)
	fitFlags(root, width)
	root.AddCommand(runCommand(), reportCommand(), explainCommand(), askCommand(), learnCommand(), matrixCommand(), compareCommand(), sweepCommand(), whyCommand(), diffCommand(), exploreCommand(), mergeCommand(), exploreWorkerCommand(), realityCommand(), realityClientCommand(), realityStorageCommand(), realityGuardCommand(), listCommand(), showCommand(), schemaCommand(), validateCommand(), newCommand(), mutateCommand(), siteCommand(), serveCommand(), versionCommand())
	root.SetOut(stdout)
	root.SetErr(stderr)
	fitHelp(root, stdout, chooseWidth(stdout))
	requireShell(root) // it prints to the output that was just set
	return root
}

// refuseArguments returns an error if a command that takes no arguments has some.
func refuseArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s: it takes no arguments, but %q was given", cmd.CommandPath(), args[0])
	}
	return nil
}

// refuseEmptyValues returns an error if a flag was given an empty value, as by a variable of
// a shell script that is not set. Such a flag would have no effect.
func refuseEmptyValues(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, isOutput := f.Value.(*outputName) // for this flag, "-" is stored as ""
		isEmpty := f.Value.Type() == "string" && f.Value.String() == "" && !isOutput
		if list, isList := f.Value.(pflag.SliceValue); isList {
			isEmpty = len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")
		}
		if isEmpty && err == nil {
			err = fmt.Errorf("%s: --%s has an empty value; give it one, or leave the flag out", cmd.CommandPath(), f.Name)
		}
	})
	return err
}

// outputError turns an error in writing the output into a failure; nil stays nil.
func outputError(err error) error {
	if err == nil {
		return nil
	}
	return failure{unexpected, fmt.Errorf("locksim: %w", err)}
}

// refuseHelpAboutUnknown returns an error if the command line asks for help about a word that is
// not a command. Without this check, cobra would print the help of the whole program.
func refuseHelpAboutUnknown(root *cobra.Command, args []string) error {
	isFlag := func(arg string) bool { return strings.HasPrefix(arg, "-") }
	isHelp := func(arg string) bool { return arg == "--help" || arg == "-h" }
	asks := slices.ContainsFunc(args, isHelp)
	words := slices.DeleteFunc(slices.Clone(args), isFlag)
	if len(words) > 1 && words[0] == "help" {
		words, asks = words[1:], true
	}
	if !asks || len(words) == 0 || words[0] == "help" || strings.HasPrefix(words[0], "__") { // cobra adds these itself
		return nil
	}
	found, rest, err := root.Find(words)
	if err != nil || found == root {
		return refuseUnknown(root, words)
	}
	hasOtherFlags := slices.ContainsFunc(args, func(arg string) bool { return isFlag(arg) && !isHelp(arg) }) // then a word may be the value of a flag
	if len(rest) == 0 || hasOtherFlags || !found.HasSubCommands() {
		return nil
	}
	return found.ValidateArgs(rest)
}

// refuseUnknown returns an error for a word that is not a command. The error suggests the
// command that was probably meant.
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
	return fmt.Errorf("%s: there is no command %q; %s", cmd.CommandPath(), word, scenarios.DidYouMean(word, names))
}
