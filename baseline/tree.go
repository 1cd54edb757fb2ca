package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A tree is the files of a commit, and the command built from them.
type tree struct {
	// commit names the commit, with "+" behind it if the files are not quite its own.
	commit string
	dir    string
	// program is the path of the command, and scratch a folder to write to.
	program, scratch string
	// jobs is how many processes to run at once.
	jobs int
}

// asItStands is what stands for a commit where the files of the repository that one is
// in are meant, with what is not committed.
const asItStands = "."

// checkout gets the files of a commit of the repository that the working directory is
// in, and builds the command. The function that it returns removes what was written.
func checkout(ctx context.Context, commit string, jobs int) (*tree, func(), error) {
	root, err := output(exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel"))
	if err != nil {
		return nil, nil, err
	}
	scratch, err := os.MkdirTemp("", "locksim-baseline")
	if err != nil {
		return nil, nil, err
	}
	t := &tree{dir: root, scratch: scratch, program: filepath.Join(scratch, "locksim.exe"), jobs: jobs}
	remove := func() { os.RemoveAll(scratch) }
	if err := t.fill(ctx, commit); err != nil {
		remove()
		return nil, nil, err
	}
	return t, remove, nil
}

// fill gets the files, and builds the command from them.
func (t *tree) fill(ctx context.Context, commit string) error {
	get := func(ctx context.Context) error { return t.unpack(ctx, commit) }
	if commit == asItStands {
		get = t.stands
	}
	if err := get(ctx); err != nil {
		return err
	}
	if _, err := output(t.run(ctx, "go", "build", "-o", t.program, "./cmd/locksim")); err != nil {
		return fmt.Errorf("%s does not build: %w", t.commit, err)
	}
	return nil
}

// shortHash is as long as a commit's name is here.
const shortHash = "--short=12"

// stands makes the tree that of the repository's files as they are.
func (t *tree) stands(ctx context.Context) error {
	var err error
	if t.commit, err = output(t.run(ctx, "git", "rev-parse", shortHash, "HEAD")); err != nil {
		return err
	}
	changes, err := output(t.run(ctx, "git", "status", "--porcelain"))
	if changes != "" {
		t.commit += "+"
	}
	return err
}

// unpack writes the files of a commit. They are no checkout that the repository knows
// of, so that it is as it was even if nobody removes them.
func (t *tree) unpack(ctx context.Context, commit string) error {
	name, err := output(t.run(ctx, "git", "rev-parse", shortHash, "--verify", "--quiet", "--end-of-options", commit+"^{commit}"))
	if err != nil {
		return usage{fmt.Errorf("%s is no commit of this repository; name one, or %q for the files as they are", commit, asItStands)}
	}
	archive := filepath.Join(t.scratch, "commit.tar")
	if _, err := output(t.run(ctx, "git", "archive", "--format=tar", "-o", archive, name)); err != nil {
		return err
	}
	files := filepath.Join(t.scratch, "commit")
	if err := os.Mkdir(files, 0o777); err != nil {
		return err
	}
	if _, err := output(t.run(ctx, "tar", "-xf", archive, "-C", files)); err != nil {
		return err
	}
	t.dir, t.commit = files, name
	return nil
}

// run is a command in the tree's folder. What makes locksim's tests do something else
// than usual is not handed on to it. Interrupted, it has some time to end by itself.
func (t *tree) run(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LOCKSIM_") })
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// locksim is the tree's command.
func (t *tree) locksim(ctx context.Context, args ...string) *exec.Cmd {
	return t.run(ctx, t.program, args...)
}

// output runs a command and returns what it prints, without the last line break. Its
// error has what the command says of it.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), failure{cmd: filepath.Base(cmd.Path) + " " + strings.Join(cmd.Args[1:], " "), err: err, said: strings.TrimSpace(stderr.String())}
	}
	return strings.TrimRight(stdout.String(), "\n"), nil
}

// A failure is that of a command.
type failure struct {
	cmd  string
	err  error
	said string
}

func (f failure) Error() string {
	if f.said == "" {
		return fmt.Sprintf("%s: %v", shortened(f.cmd), f.err)
	}
	return fmt.Sprintf("%s: %v\n%s", shortened(f.cmd), f.err, f.said)
}

func (f failure) Unwrap() error { return f.err }

// exited reports whether an error is that of a command that came to its end with a
// status: of locksim and go test, 1 is that something is not as it should be.
func exited(err error, status int) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == status
}

// folderOf finds the package that has a test, wherever the commit keeps it.
func (t *tree) folderOf(test string) (string, error) {
	found := ""
	err := filepath.WalkDir(t.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != t.dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		code, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(code, []byte("\nfunc "+test+"(")) {
			found = filepath.Dir(path)
			return filepath.SkipAll
		}
		return nil
	})
	if err == nil && found == "" {
		err = fmt.Errorf("%s has no test %s", t.commit, test)
	}
	return found, err
}
