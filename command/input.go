package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/scenarios"
)

// needsScenarios refuses a command line that names no scenario.
func needsScenarios(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("locksim %s: name a scenario, a file or a directory; `locksim list` shows the scenarios that are built in", cmd.Name())
	}
	return nil
}

// An input is a scenario and the argument that names it: its file, or the name
// under which it is built in.
type input struct {
	*scenarios.Scenario
	argument string
	// file is what it was read from; "" if it is built in.
	file string
}

// load reads every scenario that the arguments name, or says all that is wrong
// with them: a file, the files of a directory, or the name of a scenario that
// is built in. What exists as a path is a path.
func load(args []string) ([]input, error) {
	var found []input
	var errs []error
	for _, arg := range args {
		s, err := loadOne(arg)
		found = append(found, s...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return found, errors.Join(errs...)
}

func loadOne(arg string) ([]input, error) {
	arg = fromHere(arg)
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return loadBuiltIn(arg)
	case err != nil:
		return nil, fmt.Errorf("locksim: %w", err)
	case info.IsDir():
		return loadDir(arg)
	}
	s, err := loadFile(arg)
	if err != nil {
		return nil, err
	}
	return []input{s}, nil
}

// fromHere is a path from the current folder on if it is written in full and leads into
// it: that says less of where this is, and stays right when the folder is moved.
func fromHere(name string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(name) {
		return name
	}
	if path, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(path) {
		return path
	}
	return name
}

func loadDir(dir string) ([]input, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("locksim: %w", err)
	}
	var found []input
	var errs []error
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !isYAML(name) {
			continue
		}
		// What cannot be seen to be no file, such as a link to nowhere, is told as
		// an error when it is opened.
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue
		}
		s, err := loadFile(name)
		found, errs = append(found, s), append(errs, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("locksim: %s holds no scenario: no file of it ends in .yaml or .yml", dir)
	}
	return found, errors.Join(errs...)
}

func loadFile(name string) (input, error) {
	data, err := scenarioFile.readFile(name)
	if err != nil {
		return input{}, fmt.Errorf("locksim: %s: %w", name, err)
	}
	s, err := scenarios.Parse(filepath.ToSlash(name), data)
	return input{s, name, name}, err
}

func loadBuiltIn(name string) ([]input, error) {
	if isBuiltIn(name) {
		s, err := scenarios.Open(name)
		return []input{{s, name, ""}}, err
	}
	bare := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	hint := cmp.Or(scenarios.DidYouMean(bare, scenarios.Names()), "`locksim list` shows those that are built in")
	return nil, fmt.Errorf("locksim: there is no file and no built-in scenario %q; %s", name, hint)
}

func isBuiltIn(name string) bool { return slices.Contains(scenarios.Names(), name) }

// builtIn is every scenario that is built in.
func builtIn() []input {
	var found []input
	for _, s := range scenarios.Embedded() {
		found = append(found, input{s, s.Name, ""})
	}
	return found
}
