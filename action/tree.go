package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/lazy"

	"github.com/locksim/locksim/reports"
)

// A checkout is a checked-out commit in which commands run.
type checkout struct {
	// Name is "head" for the pull request or "base". Root is the folder of the clone, and
	// Folder the folder inside it in which commands run.
	Name, Root, Folder string
}

// git runs git in a folder and returns what it prints.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = folder
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, lastLine(problem.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// parentsOf returns the parents of the commit that is checked out. It reads them from the
// commit itself, because a shallow clone lacks the parents.
func parentsOf(ctx context.Context, clone string) (parents []string, err error) {
	text, err := git(ctx, clone, "cat-file", "-p", "HEAD")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			break
		}
		if parent, ok := strings.CutPrefix(line, "parent "); ok {
			parents = append(parents, strings.TrimSpace(parent))
		}
	}
	return parents, nil
}

// checkOutBase checks out a commit into a folder of its own. It fetches the commit if the
// clone lacks it.
func checkOutBase(ctx context.Context, clone, base, folder string) error {
	if _, err := git(ctx, clone, "cat-file", "-e", base+"^{commit}"); err != nil {
		if _, err := git(ctx, clone, "fetch", "--no-tags", "--depth=1", "origin", base); err != nil {
			return err
		}
	}
	_, err := git(ctx, clone, "worktree", "add", "--detach", "--force", folder, base)
	return err
}

// execute runs a command in a checkout. It returns what the command prints: out is its standard
// output, and problem its standard error, which is also copied to ours. It fails only if the
// command cannot be run; an exit status other than 0 is no error.
func (t checkout) execute(ctx context.Context, env []string, command []string) (out []byte, problem string, status int, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = filepath.Join(t.Root, t.Folder)
	cmd.Env = append(withoutSecrets(os.Environ()), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &stdout, left: reports.MaxExplored}, &limited{w: &stderr, left: 1 << 20}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status, err = exit.ExitCode(), nil
	}
	if err != nil {
		return nil, "", 0, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	// GitHub executes certain lines in a job's output as commands, and foreign code must not
	// give any.
	fmt.Fprint(os.Stderr, reports.DefuseCommands(stderr.String()))
	return stdout.Bytes(), stderr.String(), status, nil
}

// withoutSecrets removes the variables that give a program rights, or a way to change later
// steps of the job. It is no sandbox: the program runs as the same user.
func withoutSecrets(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "GITHUB_TOKEN", "GH_TOKEN":
			return true
		}
		return strings.HasPrefix(name, "ACTIONS_") || strings.HasPrefix(name, "INPUT_")
	})
}

// A limited writer keeps the first bytes and drops the rest, so that a program cannot fill
// the memory.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// exitStatus matches the line that the command go run adds when the program that it runs
// fails.
var exitStatus = lazy.Regexp(`(?m)^exit status \d+\s*\z`)

// lastLine returns the last line of a text that is not empty. A last line that matches
// exitStatus does not count, because the line before it says what is wrong.
func lastLine(text string) string {
	text = strings.TrimSpace(exitStatus().ReplaceAllString(strings.TrimSpace(text), ""))
	return strings.TrimSpace(text[strings.LastIndex(text, "\n")+1:])
}
