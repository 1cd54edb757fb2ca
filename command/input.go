package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

// requireScenarios returns an error if the command line names no scenario.
func requireScenarios(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("locksim %s: name a scenario, a file or a directory; `locksim list` shows the built-in scenarios", cmd.Name())
	}
	return nil
}

// An input is a scenario, with the argument that names it: the path of its file, or the
// name of a built-in scenario.
type input struct {
	*scenarios.Scenario
	argument string
	// file is the path of the file that the scenario was read from; "" if it is built in.
	file string
}

// load reads every scenario that the arguments name. An argument is a file, a directory,
// whose files are read, or the name of a built-in scenario or a pattern of such names. If
// an argument exists as a path, it is not taken for a name. The error contains all problems
// of all arguments.
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

// loadSingle reads the one scenario that the argument of a command names.
func loadSingle(command, arg string) (input, error) {
	found, err := load([]string{arg})
	switch {
	case err != nil:
		return input{}, err
	case len(found) != 1:
		return input{}, fmt.Errorf("locksim: %s names %d scenarios, and %s takes one; name its file", arg, len(found), command)
	}
	return found[0], nil
}

// loadOne reads the scenarios that one argument names.
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

// relativePath turns an absolute path into a relative one if it leads into the current
// folder. A relative path reveals less about this machine, and remains valid when the
// folder is moved.
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

// loadDir reads all scenario files in a directory, but not in directories below it.
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
		// If Stat fails, as for a dangling link, reading the file returns the error.
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

// loadFile reads one scenario file.
func loadFile(name string) (input, error) {
	data, err := scenarioFile.readFile(name)
	if remedy := remedyForOutput(name, data); remedy != "" { // also if it is larger than a scenario
		return input{}, fmt.Errorf("locksim: %s is not a scenario, but output of locksim; %s", name, remedy)
	}
	if err != nil {
		return input{}, fmt.Errorf("locksim: %s: %w", name, err)
	}
	s, err := scenarios.Parse(filepath.ToSlash(name), data)
	return input{s, name, name}, err
}

// remedyForOutput says what to do with a file that locksim wrote in JSON, such as a saved trace,
// and that is given as a scenario. It returns "" for any other file.
func remedyForOutput(name string, data []byte) string {
	const longestStart = 80
	_, schema, isOutput := strings.Cut(string(data[:min(len(data), longestStart)]), `"schema": "locksim/`)
	switch {
	case !isOutput:
		return ""
	case strings.HasPrefix(schema, "trace/"):
		return "to show it, use locksim report " + story.ShellWord(name)
	}
	return "name the file of the scenario, or a built-in scenario"
}

// loadBuiltIn returns a built-in scenario.
func loadBuiltIn(name string) ([]input, error) {
	if isBuiltIn(name) {
		s, err := scenarios.Open(name)
		return []input{{s, name, ""}}, err
	}
	if strings.ContainsAny(name, "*?[") {
		return loadBuiltInLike(name)
	}
	if strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(filepath.Separator)) {
		return nil, fmt.Errorf("locksim: there is no folder %q; name a folder with scenario files, or a built-in scenario: `locksim list` shows them", name)
	}
	bare := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	hint := cmp.Or(hintOfTerm(name), scenarios.DidYouMean(bare, scenarios.Names()), "`locksim list` shows the built-in scenarios")
	return nil, fmt.Errorf("locksim: there is no file and no built-in scenario %q; %s", name, hint)
}

// loadBuiltInLike returns the built-in scenarios whose names match a pattern, such as
// fencing-*; see [path.Match].
func loadBuiltInLike(pattern string) ([]input, error) {
	var found []input
	for _, name := range scenarios.Names() {
		matches, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("locksim: the pattern %q is not valid: close its bracket, or leave the bracket out", pattern)
		}
		if matches {
			s, err := scenarios.Open(name)
			if err != nil {
				return nil, err
			}
			found = append(found, input{s, name, ""})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("locksim: there is no file, and no built-in scenario matches %q; `locksim list` shows the built-in scenarios", pattern)
	}
	return found, nil
}

// isPath reports whether a file or a folder has this name.
func isPath(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func isBuiltIn(name string) bool { return slices.Contains(scenarios.Names(), name) }

// builtIn returns all built-in scenarios.
func builtIn() []input {
	var found []input
	for _, s := range scenarios.Embedded() {
		found = append(found, input{s, s.Name, ""})
	}
	return found
}
