package command

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/story"
)

// templates has a folder for each system, with a lock on it and the test of that lock.
//
//go:embed _templates
var templates embed.FS

// templateModules are the modules of locksim that the test of a template requires, after
// the module locksim itself.
var templateModules = map[string][]string{
	"consul":     {"libraries/consul"},
	"etcd":       {"libraries/etcd", "servers/etcd"},
	"kubernetes": {"libraries/kubernetes"},
	"postgres":   {"libraries/postgres", "servers/postgres"},
	"redis":      nil,
	"sqlite":     {"libraries/sqlite"},
	"zookeeper":  {"libraries/zookeeper"},
}

// templateSystems returns the systems that have a template, in alphabetical order.
func templateSystems() (names []string) {
	folders, err := templates.ReadDir("_templates")
	if err != nil {
		panic(err) // impossible: the folder is part of the program
	}
	for _, f := range folders {
		names = append(names, f.Name())
	}
	return names
}

func newCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Write a lock with its test, or a copy of a scenario, to begin with",
		Args:  refuseUnknown,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLockCommand(), newScenarioCommand())
	return cmd
}

func newLockCommand() *cobra.Command {
	n := newLock{}
	cmd := &cobra.Command{
		Use:   "lock DIR",
		Short: "Write a Go module with a lock and the test that runs it through locktest",
		Long: `Write a Go module into a folder: a lock on one of the systems, and its test, which
runs the lock through every scenario and every fault of locktest. The lock passes.
Change it into your own, and run the test again.

If the folder already has a go.mod, it stays as it is.`,
		Example: `  locksim new lock ../mylock --on etcd
  cd ../mylock && go mod tidy && go test`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s: name the folder to write to, such as %s ../mylock --on redis", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			n.dir = args[0]
			files, err := n.prepare()
			if err != nil {
				return fmt.Errorf("locksim new lock: %w", err)
			}
			if err := n.write(files); err != nil {
				return failure{unexpected, fmt.Errorf("locksim new lock: %w", err)}
			}
			for _, line := range n.describe(files) {
				if err := printLine(cmd.OutOrStdout(), "%s", line); err != nil {
					return outputError(err)
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&n.system, "on", "redis", "the system that keeps the lock: "+strings.Join(templateSystems(), ", "))
	flags.StringVar(&n.module, "module", "", "the module's path; by default the name of the folder")
	flags.StringVar(&n.clone, "clone", "", "the folder of a clone of locksim to use, as long as no release is used; by default the clone that contains the working directory")
	complete(cmd, "on", templateSystems())
	return cmd
}

// A newLock says what the command writes: a lock with its test.
type newLock struct {
	dir, system, module, clone string
	// version is the version of locksim that the module requires.
	version string
	// hasModule reports whether the folder already has a go.mod.
	hasModule bool
}

// A newFile is a file to write.
type newFile struct {
	name string
	data []byte
}

// prepare checks what the user asks for, and returns the files to write. It writes nothing.
func (n *newLock) prepare() ([]newFile, error) {
	if !slices.Contains(templateSystems(), n.system) {
		return nil, fmt.Errorf("--on: there is no system %q; %s", n.system, oneOf(n.system, templateSystems()))
	}
	dir, err := filepath.Abs(n.dir)
	if err != nil {
		return nil, systemError(err)
	}
	n.module = cmp.Or(n.module, filepath.Base(dir))
	if err := n.findLocksim(); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(dir, "go.mod")); err == nil {
		n.hasModule = true
	}
	files := []newFile{}
	if !n.hasModule {
		files = append(files, newFile{"go.mod", n.goMod(dir)})
	}
	folder := "_templates/" + n.system
	entries, err := templates.ReadDir(folder)
	if err != nil {
		panic(err) // impossible: the folder is part of the program
	}
	for _, e := range entries {
		data, err := templates.ReadFile(folder + "/" + e.Name())
		if err != nil {
			panic(err) // impossible: the file is part of the program
		}
		files = append(files, newFile{e.Name(), data})
	}
	for _, f := range files {
		switch _, err := os.Lstat(filepath.Join(dir, f.name)); {
		case err == nil:
			return nil, fmt.Errorf("%s already exists; name a folder without it", filepath.Join(n.dir, f.name))
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: %w", n.dir, systemError(err))
		}
	}
	return files, nil
}

// findLocksim finds the version of locksim that the module requires, and the clone that it
// uses in its place.
func (n *newLock) findLocksim() (err error) {
	if n.clone, err = findClone(n.clone); err != nil {
		return err
	}
	n.version = ownRelease()
	if n.version == "" && n.clone == "" {
		return errors.New("this build of locksim is no release; name the folder of a clone of locksim with --clone, or run the command in that folder")
	}
	n.version = cmp.Or(n.version, "v0.1.0")
	return nil
}

// findClone returns the absolute path of a clone of locksim: the folder with this name, or,
// if name is "", the clone that contains the working directory. The result is "" if the
// working directory is in no clone.
func findClone(name string) (string, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return "", systemError(err)
	}
	for {
		data, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
		first, _, _ := strings.Cut(string(data), "\n")
		parent := filepath.Dir(dir)
		switch {
		case strings.TrimSpace(first) == "module "+locksimModule:
			return dir, nil
		case name != "":
			return "", fmt.Errorf("--clone %s: this folder is no clone of locksim: it has no go.mod of %s", name, locksimModule)
		case parent == dir:
			return "", nil
		}
		dir = parent
	}
}

// ownRelease returns the version of locksim in this program if it is a released one, and
// otherwise "".
func ownRelease() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	v := versionOf(info, locksimModule)
	if strings.HasPrefix(info.Main.Path+"/", locksimModule+"/") && !strings.Contains(info.Main.Version, "-") {
		v = cmp.Or(v, info.Main.Version)
	}
	if !strings.HasPrefix(v, "v") {
		return "" // it is built in a clone
	}
	return v
}

// modules returns the paths of the modules of locksim that the test requires, relative to
// the folder of locksim; the first is ".".
func (n *newLock) modules() []string { return append([]string{"."}, templateModules[n.system]...) }

// modulePath returns the module path of a folder of locksim.
func modulePath(folder string) string {
	if folder == "." {
		return locksimModule
	}
	return locksimModule + "/" + folder
}

// goMod returns the content of go.mod for a module in the folder dir.
func (n *newLock) goMod(dir string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo 1.26.0\n\nrequire (\n", n.module)
	for _, m := range n.modules() {
		fmt.Fprintf(&b, "\t%s %s\n", modulePath(m), n.version)
	}
	b.WriteString(")\n")
	if n.clone != "" {
		b.WriteString("\n// A clone of locksim. Leave this out when you use a release.\nreplace (\n")
		for _, m := range n.modules() {
			fmt.Fprintf(&b, "\t%s => %s\n", modulePath(m), n.replacement(dir, m))
		}
		b.WriteString(")\n")
	}
	return []byte(b.String())
}

// replacement returns the folder of a module in the clone, as go.mod in the folder dir
// names it: as a relative path, if that is possible.
func (n *newLock) replacement(dir, module string) string {
	folder := filepath.Join(n.clone, module)
	if relative, err := filepath.Rel(dir, folder); err == nil {
		folder = filepath.ToSlash(relative)
		if !strings.HasPrefix(folder, ".") {
			folder = "./" + folder
		}
	}
	if strings.ContainsAny(folder, " \t\"'`(),") {
		return fmt.Sprintf("%q", folder)
	}
	return folder
}

// write writes the files. It replaces no file. If it fails, it removes what it has written.
func (n *newLock) write(files []newFile) (err error) {
	if err := os.MkdirAll(n.dir, 0o777); err != nil {
		return fmt.Errorf("%s: %w", n.dir, systemError(err))
	}
	var written []string
	defer func() {
		if err != nil {
			for _, name := range written {
				_ = os.Remove(name)
			}
		}
	}()
	for _, f := range files {
		name := filepath.Join(n.dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return fmt.Errorf("%s: %w", name, systemError(err))
		}
		if err := writeNewFile(name, f.data); err != nil {
			return err
		}
		written = append(written, name)
	}
	return nil
}

// describe says, in two lines, what was written and what to do next.
func (n *newLock) describe(files []newFile) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.name)
	}
	last := len(names) - 1
	edit := ""
	if n.hasModule {
		edit = "go mod edit"
		for _, m := range n.modules() {
			edit += fmt.Sprintf(" -require=%s@%s", modulePath(m), n.version)
		}
		dir, err := filepath.Abs(n.dir)
		for _, m := range n.modules() {
			if n.clone != "" && err == nil {
				edit += " " + story.ShellWord("-replace="+modulePath(m)+"="+n.replacement(dir, m))
			}
		}
		edit += " && "
	}
	return []string{
		fmt.Sprintf("wrote %s and %s into %s", strings.Join(names[:last], ", "), names[last], n.dir),
		fmt.Sprintf("next: cd %s && %sgo mod tidy && go test", story.ShellWord(n.dir), edit),
	}
}
