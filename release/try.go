package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// trials are the commands with which try runs a program. The output of each must contain
// want.
var trials = []struct {
	args []string
	want string
}{
	{[]string{"version"}, "locksim "},
	{[]string{"list"}, "gc-pause"},
	// This command exits with status 0 only if the verdicts are those that the scenario
	// expects.
	{[]string{"run", "gc-pause", "--format", "json"}, `"verdict": "unsafe"`},
	{[]string{"run", "same-holder-cut-off", "--lock", "etcd"}, "verdict"},
}

// try unpacks an archive into an empty folder and runs its program there, with an empty
// environment. If the operating system and our rights allow it, the folder is also the root folder
// of the program, which then finds nothing but the files of the archive. emulator is a command that
// runs programs for another processor, or ""; it needs the real root folder.
func try(archive, emulator string) error {
	root, err := os.MkdirTemp("", "locksim-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := unpack(archive, root); err != nil {
		return err
	}
	name := "locksim"
	if strings.Contains(filepath.Base(archive), "_windows_") {
		name += ".exe"
	}
	isRoot := emulator == "" && changesRoot(&exec.Cmd{}, root)
	for _, t := range trials {
		program := filepath.Join(root, name)
		var cmd *exec.Cmd
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		if emulator != "" {
			cmd = exec.CommandContext(ctx, emulator, append([]string{program}, t.args...)...)
		} else {
			if isRoot {
				program = "/" + name
			}
			cmd = exec.CommandContext(ctx, program, t.args...)
			if isRoot {
				changesRoot(cmd, root)
			}
		}
		cmd.Dir = root
		if isRoot {
			cmd.Dir = "/"
		}
		cmd.Env = []string{}
		if runtime.GOOS == "windows" {
			cmd.Env = append(cmd.Env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT")) // without it no program has random numbers
		}
		out, err := cmd.Output()
		cancel()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				err = fmt.Errorf("%w\n%s%s", err, out, exit.Stderr)
			}
			return fmt.Errorf("locksim %s: %w", strings.Join(t.args, " "), err)
		}
		if !strings.Contains(string(out), t.want) {
			return fmt.Errorf("locksim %s does not print %q:\n%s", strings.Join(t.args, " "), t.want, out)
		}
	}
	where := "an empty folder"
	if isRoot {
		where = "an empty root"
	}
	fmt.Printf("%s: runs in %s\n", filepath.Base(archive), where)
	return nil
}
