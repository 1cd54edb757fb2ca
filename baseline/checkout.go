package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A checkout is a folder with the files of a commit, and the command locksim that was built
// from them.
type checkout struct {
	dir     string
	command string // the path of locksim
	jobs    int    // the number of processes to run at the same time
}

// build builds locksim. remove deletes the built file.
func (c *checkout) build(ctx context.Context) (remove func(), err error) {
	scratch, err := os.MkdirTemp("", "locksim-baseline")
	if err != nil {
		return nil, err
	}
	c.command = filepath.Join(scratch, "locksim.exe")
	remove = func() { os.RemoveAll(scratch) }
	if text, err := c.newCommand(ctx, "go", "build", "-o", c.command, "./cmd/locksim-all").CombinedOutput(); err != nil {
		remove()
		return nil, fmt.Errorf("%s cannot be built: %w\n%s", c.dir, err, text)
	}
	return remove, nil
}

// newCommand returns a command that runs in the folder of the checkout, without environment
// variables that change what the tests of locksim do. If ctx ends, the command gets an
// interrupt, and some time to end by itself.
func (c *checkout) newCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = c.dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LOCKSIM_") })
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// output runs a command and returns its output. locksim and go test end with status 1 if
// something is not as expected; output returns no error for this status if there is output.
func output(cmd *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && exit.ExitCode() == 1 && stdout.Len() > 0 {
		return stdout.Bytes(), nil
	}
	return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
}
