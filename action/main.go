// Command action is the program of the GitHub Action, which shows what a pull request changes
// about locks. It has two subcommands, for two jobs with different rights:
//
//	changes  runs scenarios, searches and the suite in the pull request and in its base, and
//	         writes what differs into a file; it runs code of the pull request, without a token
//	comment  writes a comment from that file; it has a token, and runs no code of the pull request
//
// Everything that it needs comes in environment variables: GitHub's own, and those that
// action.yml and comment/action.yml set. So no text of a pull request is ever part of a
// command line that a shell reads.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
)

// errBroken is returned if the pull request breaks something that its base does not. By then, the
// summary already says what it breaks.
var errBroken = errors.New("the pull request breaks something that its base does not")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "locksim:", err)
		os.Exit(1)
	}
}

// run executes the subcommand that is the only argument.
func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: action changes|comment")
	}
	e, err := readEvent(os.Getenv("GITHUB_EVENT_NAME"), os.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return err
	}
	switch args[0] {
	case "changes":
		s, err := readSettings(os.Getenv)
		if err != nil {
			return err
		}
		return writeChanges(ctx, e, s)
	case "comment":
		return comment(ctx, e, os.Getenv)
	}
	return fmt.Errorf("unknown subcommand %q; the subcommands are changes and comment", args[0])
}
