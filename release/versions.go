package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ownModule is the module in the root of the clone. The paths of the other modules begin with
// it.
const ownModule = "github.com/locksim/locksim"

// unreleased are the modules of the workspace that have no version.
var unreleased = []string{"libraries/pglock", "playground", "reports/browser"}

// version matches the tag of a release. It matches only releases before v2.0.0, because v2
// would change the paths of all modules.
var version = regexp.MustCompile(`^v[01]\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.]+)?$`)

// A modFile contains the fields that this program uses of go mod edit -json and go work edit
// -json.
type modFile struct {
	Module  struct{ Path string }
	Require []struct{ Path, Version string }
	Use     []struct{ DiskPath string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

// readMod reads a go.mod or go.work file.
func readMod(file string) (*modFile, error) {
	kind := strings.TrimPrefix(filepath.Base(file), "go.")
	out, err := output(".", "go", kind, "edit", "-json", file)
	if err != nil {
		return nil, err
	}
	m := &modFile{}
	return m, json.Unmarshal([]byte(out), m)
}

// output runs a command in a folder and returns what it prints.
func output(folder string, command ...string) (string, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// modulesOf returns the folders of the modules that a release has, the root first.
func modulesOf(clone string) ([]string, error) {
	work, err := readMod(filepath.Join(clone, "go.work"))
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, u := range work.Use {
		if folder := path.Clean(u.DiskPath); !slices.Contains(unreleased, folder) {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	return folders, nil
}

// tagsOf returns the tags of all modules for a version.
func tagsOf(clone, v string) ([]string, error) {
	if !version.MatchString(v) {
		return nil, fmt.Errorf("%q is not a version such as v0.1.0", v)
	}
	folders, err := modulesOf(clone)
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, folder := range folders {
		tags = append(tags, strings.TrimPrefix(folder+"/"+v, "./"))
	}
	return tags, nil
}

// check returns an error that lists all files of the clone whose version is not v, the tag of the
// release.
func check(clone, v string) error {
	if !version.MatchString(v) {
		return fmt.Errorf("%q is not a version such as v0.1.0", v)
	}
	folders, err := modulesOf(clone)
	if err != nil {
		return err
	}
	var wrong []error
	work, err := readMod(filepath.Join(clone, "go.work"))
	if err != nil {
		return err
	}
	replaced := map[string]bool{}
	for _, r := range work.Replace {
		if r.Old.Version != v {
			wrong = append(wrong, fmt.Errorf("go.work replaces %s %s; the tag is %s", r.Old.Path, r.Old.Version, v))
		}
		replaced[r.Old.Path] = true
	}
	for _, u := range work.Use {
		file := path.Join(u.DiskPath, "go.mod")
		m, err := readMod(filepath.Join(clone, file))
		if err != nil {
			return err
		}
		folder := path.Clean(u.DiskPath)
		if want := path.Join(ownModule, folder); m.Module.Path != want {
			wrong = append(wrong, fmt.Errorf("%s: the module is %s; its folder needs %s", file, m.Module.Path, want))
		}
		if slices.Contains(folders, folder) && len(m.Replace) > 0 {
			wrong = append(wrong, fmt.Errorf("%s has a replace directive, with which go install %s@%s does not work", file, m.Module.Path, v))
		}
		for _, r := range m.Require {
			if r.Path != ownModule && !strings.HasPrefix(r.Path, ownModule+"/") {
				continue
			}
			if r.Version != v {
				wrong = append(wrong, fmt.Errorf("%s requires %s %s; the tag is %s", file, r.Path, r.Version, v))
			}
			if !replaced[r.Path] {
				wrong = append(wrong, fmt.Errorf("%s requires %s, which go.work does not replace", file, r.Path))
			}
		}
	}
	log, err := os.ReadFile(filepath.Join(clone, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if !regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(v) + `(?: |$)`).Match(log) {
		wrong = append(wrong, fmt.Errorf("CHANGELOG.md has no heading ## %s", v))
	}
	return errors.Join(wrong...)
}
