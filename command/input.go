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

// requireScenarios refuses a command line that names no scenario.
func requireScenarios(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("locksim %s: name a scenario, a file or a directory; `locksim list` shows the built-in scenarios", cmd.Name())
	}
	return nil
}

// An input is a scenario and the argument that names it: its file, or its built-in name.
type input struct {
	*scenarios.Scenario
	argument string
	// file is the file that it was read from; "" if it is built in.
	file string
}

// load reads every scenario that the arguments name: a file, the files of a directory, or
// the name of a built-in scenario. An argument that exists as a path is a path. The error
// contains all problems of all arguments.
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
	arg = relativePath(arg)
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

// relativePath returns an absolute path as a relative one if it leads into the current
// folder. That reveals less about this machine, and stays valid when the folder is moved.
func relativePath(name string) string {
	folder, err := os.Getwd()
	if err != nil || !filepath.IsAbs(name) {
		return name
	}
	if path, err := filepath.Rel(folder, name); err == nil && filepath.IsLocal(path) {
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
		// Something that cannot be checked here, such as a dangling link, causes an error
		// when it is opened.
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue
		}
		s, err := loadFile(name)
		found, errs = append(found, s), append(errs, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("locksim: %s contains no scenario: no file in it ends in .yaml or .yml", dir)
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
	hint := cmp.Or(scenarios.DidYouMean(bare, scenarios.Names()), "`locksim list` shows the built-in scenarios")
	return nil, fmt.Errorf("locksim: there is no file and no built-in scenario %q; %s", name, hint)
}

func isBuiltIn(name string) bool { return slices.Contains(scenarios.Names(), name) }

// builtIn returns every built-in scenario.
func builtIn() []input {
	var found []input
	for _, s := range scenarios.Embedded() {
		found = append(found, input{s, s.Name, ""})
	}
	return found
}
