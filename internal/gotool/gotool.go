// Package gotool runs commands such as go build, so that the end of a context ends them
// together with the processes that they have started.
package gotool

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// Command returns a command. If its context ends, the command is interrupted together with
// the processes that it has started, and killed a while later.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	interruptWithChildren(cmd)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Lines returns an error that joins the lines of a text as errors, so that each is printed on a
// line of its own.
func Lines(text string) error {
	var all []error
	for line := range strings.SplitSeq(text, "\n") {
		all = append(all, errors.New(strings.ReplaceAll(line, "\t", "  ")))
	}
	return errors.Join(all...)
}
