package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/exercises"
	"github.com/locksim/locksim/internal/story"
)

// learnExercises returns the commands of learn that are about exercises.
func learnExercises() []*cobra.Command {
	return []*cobra.Command{learnNewCommand(), learnCheckCommand(), learnSolutionsCommand()}
}

func learnNewCommand() *cobra.Command {
	n := newLock{system: "redis", module: "example.com/lock"}
	cmd := &cobra.Command{
		Use:   "new DIR",
		Short: "Write the exercises into a new folder",
		Long: `Write the exercises into a new folder: a lock in Go, which you improve in seven
stages, and four scenarios in YAML. README.md in the folder says what to do.`,
		Example: `  locksim learn new ../mylock                       (in a clone of locksim)
  locksim learn new mylock --clone ~/src/locksim    (elsewhere)
  cd mylock && go mod tidy && locksim learn check .`,
		Args: func(cmd *cobra.Command, args []string) error { return requireFolder(cmd, args, "../mylock") },
		RunE: func(cmd *cobra.Command, args []string) error {
			n.dir = args[0]
			dir, err := filepath.Abs(n.dir)
			if err == nil {
				err = cmp.Or(refuseFilledFolder(n.dir), n.findLocksim(), n.refuseFolderInClone(dir))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
			}
			files := []newFile{{"go.mod", n.goMod(dir)}}
			for _, f := range exercises.ModuleFiles() {
				files = append(files, newFile{f.Name, f.Data})
			}
			if err := n.write(files); err != nil {
				return failure{unexpected, fmt.Errorf("%s: %w", cmd.CommandPath(), err)}
			}
			return outputError(printFiles(cmd, n.dir, files,
				"next: read README.md, then cd "+story.ShellWord(n.dir)+" && go mod tidy && locksim learn check ."))
		},
	}
	cmd.Flags().StringVar(&n.clone, "clone", "", "the folder of a clone of locksim to use, as long as no release is used; by default the clone that contains the working directory")
	return cmd
}

func learnSolutionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "solutions DIR",
		Short: "Write the model solutions of the exercises into a new folder, for teachers",
		Long: `Write the model solutions of the exercises into a new folder: a lock for each of the
seven stages, and the four scenarios. They are for teachers. To check one, copy it over
lock.go in a folder that locksim learn new has written.`,
		Example: `  locksim learn solutions ../solutions`,
		Args:    func(cmd *cobra.Command, args []string) error { return requireFolder(cmd, args, "../solutions") },
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if err := refuseFilledFolder(dir); err != nil {
				return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
			}
			var files []newFile
			for _, f := range exercises.SolutionFiles() {
				files = append(files, newFile{f.Name, f.Data})
			}
			n := newLock{dir: dir}
			if err := n.write(files); err != nil {
				return failure{unexpected, fmt.Errorf("%s: %w", cmd.CommandPath(), err)}
			}
			return outputError(printFiles(cmd, dir, files, ""))
		},
	}
}

// requireFolder returns an error unless the command line names one folder.
func requireFolder(cmd *cobra.Command, args []string, example string) error {
	if len(args) != 1 || args[0] == "" {
		return fmt.Errorf("%s: name one folder to write to, such as %s %s", cmd.CommandPath(), cmd.CommandPath(), example)
	}
	return nil
}

// refuseFolderInClone returns an error if a folder is in the clone of locksim. There the go command
// uses the workspace of the clone, which does not contain the new module.
func (n *newLock) refuseFolderInClone(dir string) error {
	if n.clone != "" && strings.HasPrefix(dir+string(filepath.Separator), n.clone+string(filepath.Separator)) {
		return fmt.Errorf("%s is in the clone of locksim; name a folder outside of it, such as ../mylock", n.dir)
	}
	return nil
}

// refuseFilledFolder returns an error if a folder cannot be written to, or has files.
func refuseFilledFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file; name a new folder", dir)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", dir, systemError(err))
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: it has %s; name a new folder", dir, entries[0].Name())
	}
	return nil
}

// printFiles says which files were written, and then what to do next, unless next is "".
func printFiles(cmd *cobra.Command, dir string, files []newFile, next string) error {
	lines := []string{fmt.Sprintf("wrote into %s:", dir)}
	for _, f := range files {
		lines = append(lines, "  "+f.name)
	}
	if next != "" {
		lines = append(lines, next)
	}
	for _, line := range lines {
		if err := printLine(cmd.OutOrStdout(), "%s", line); err != nil {
			return err
		}
	}
	return nil
}
