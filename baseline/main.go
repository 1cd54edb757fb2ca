// Command baseline says what a commit comes to, and in what two commits differ: every
// run of the scenarios, every way that a search finds, every mutant, every library. See
// README.md.
//
// It knows the code of no package: it works from what the command prints in JSON and
// from what tests tell as attributes, so that it can judge a change of all that is behind
// these.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const help = `Say what commits come to, and in what they differ.

  go run ./baseline make COMMIT -o FILE.txt   write what a commit comes to
  go run ./baseline compare A.txt B.txt       say in what two differ
  go run ./baseline check                     compare the files as they are with
                                              baseline/known.txt, in seconds

COMMIT is any name that git knows; . is the files as they are. Each command has
--help.

Exit status of the program (go run makes 1 of any but 0):
  0  made, or equal
  1  something differs, or could not be made
  2  bad usage, or a file that is no baseline
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(program(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// program runs the program and returns its exit status.
func program(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := command(ctx, args, stdout, stderr)
	switch {
	case err == nil, errors.Is(err, errHelped):
		return 0
	case errors.Is(err, errDiffer): // it is said in what
		return 1
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted; the parts that were done are in the file, and --only makes the others")
	}
	fmt.Fprintln(stderr, "baseline:", err)
	if bad := (usage{}); errors.As(err, &bad) {
		return 2
	}
	return 1
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usage{errors.New("say what to do: make, compare or check; --help tells more")}
	}
	switch args[0] {
	case "make":
		f, err := parseMake(args[1:], stderr)
		if err != nil {
			return err
		}
		return makeBaseline(ctx, f, stderr)
	case "compare":
		set := newFlags("compare A.txt B.txt", stderr)
		most := set.Int("most", 10, "show at most this `many` differences of each part")
		rest, err := parseFlags(set, args[1:])
		if err != nil {
			return err
		}
		if len(rest) != 2 {
			return usage{fmt.Errorf("compare: name two files; here are %d", len(rest))}
		}
		return compare(rest[0], rest[1], *most, stdout)
	case "check":
		return check(ctx, args[1:], stdout, stderr)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, help)
		return nil
	}
	return usage{fmt.Errorf("there is no command %q; there are make, compare and check", args[0])}
}

// usage is an error of whoever calls the program.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// errHelped is the end of a command that was asked for help.
var errHelped = errors.New("helped")

func newFlags(line string, stderr io.Writer) *flag.FlagSet {
	set := flag.NewFlagSet(line, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {
		fmt.Fprintf(stderr, "go run ./baseline %s\n", line)
		set.SetOutput(stderr)
		set.PrintDefaults()
		set.SetOutput(io.Discard)
	}
	return set
}

// parseFlags reads flags before, behind and between the other arguments, which it
// returns.
func parseFlags(set *flag.FlagSet, args []string) (rest []string, err error) {
	usageOf := set.Usage
	set.Usage = func() {}
	for {
		switch err := set.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			usageOf()
			return nil, errHelped
		case err != nil:
			return nil, usage{err}
		}
		if set.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, set.Arg(0))
		args = set.Args()[1:]
	}
}
