package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// settings are the inputs of the action.
type settings struct {
	// Locksim is the command that runs locksim, and Go the command that runs go, as words. No shell
	// reads them.
	Locksim, Go []string
	// Run and Explore have the arguments of each locksim run and locksim explore. Test has
	// patterns of Go packages.
	Run, Explore [][]string
	Test         []string
	// Workspace is the folder of the clone. Folder is the folder inside the clone in which the
	// commands run.
	Workspace, Folder string
	// Scratch is a folder for temporary files. Changes is the file for the result, in that
	// folder.
	Scratch, Changes string
	// Summary and Output are the files from which GitHub reads the summary of the job and the
	// outputs of the step; "" means none.
	Summary, Output string
	// NeverFails means that a change for the worse does not fail the step.
	NeverFails bool
}

// readSettings reads the settings from environment variables.
func readSettings(env func(string) string) (settings, error) {
	s := settings{
		Locksim: strings.Fields(env("LOCKSIM_COMMAND")),
		Go:      []string{"go"},
		Run:     lines(env("LOCKSIM_RUN")),
		Explore: lines(env("LOCKSIM_EXPLORE")),
		Test:    strings.Fields(env("LOCKSIM_TEST")),

		Workspace: env("GITHUB_WORKSPACE"),
		Folder:    env("LOCKSIM_FOLDER"),
		Scratch:   env("RUNNER_TEMP"),
		Summary:   env("GITHUB_STEP_SUMMARY"),
		Output:    env("GITHUB_OUTPUT"),
	}
	s.Changes = filepath.Join(s.Scratch, changesFile)
	switch {
	case s.Workspace == "" || s.Scratch == "":
		return s, errors.New("GITHUB_WORKSPACE and RUNNER_TEMP are not set; the action runs in a workflow of GitHub")
	case len(s.Run)+len(s.Explore)+len(s.Test) == 0:
		return s, errors.New("there is nothing to run: give the input run, explore or test")
	case len(s.Locksim) == 0 && len(s.Run)+len(s.Explore) > 0:
		return s, errors.New("LOCKSIM_COMMAND is not set")
	case s.Folder != "" && !filepath.IsLocal(s.Folder):
		return s, fmt.Errorf("the folder %q is not inside the clone", s.Folder)
	}
	switch v := env("LOCKSIM_FAIL_ON"); v {
	case "", "new":
	case "never":
		s.NeverFails = true
	default:
		return s, fmt.Errorf("the input fail-on is %q; it is new or never", v)
	}
	return s, nil
}

// lines returns the words of each line that is not empty. Words are separated by blanks and
// have no quotes.
func lines(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}
