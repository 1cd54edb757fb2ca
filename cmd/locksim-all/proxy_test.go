package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// A userModule is a module outside of this repository that requires the published modules
// of locksim.
type userModule struct {
	dir string
	env []string
}

// newUserModule makes an empty module with the given path. It gets the modules of locksim
// from the folders of this repository, through a module proxy that consists of files.
func newUserModule(t *testing.T, path string) *userModule {
	t.Helper()
	proxy := filepath.Join(t.TempDir(), "proxy")
	publish(t, proxy)
	downloaded := strings.TrimSpace(goOutput(t, nil, ".", "env", "GOMODCACHE")) + "/cache/download"
	s := &userModule{dir: t.TempDir(), env: append(os.Environ(),
		"GOWORK=off", "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOMODCACHE="+filepath.Join(t.TempDir(), "modules"),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(downloaded)+","+strings.TrimSpace(goOutput(t, nil, ".", "env", "GOPROXY")),
		"GONOSUMDB=github.com/locksim/*,github.com/locksim/locksim/*",
	)}
	s.runGo(t, "mod", "init", path)
	return s
}

// nextVersion is the version of the next release, in which the modules of locksim require
// each other.
const nextVersion = "v0.1.0"

// publish puts the modules of the workspace into the folder of a module proxy, as a release
// does.
func publish(t *testing.T, proxy string) {
	t.Helper()
	var work struct{ Use []struct{ DiskPath string } }
	if err := json.Unmarshal([]byte(goOutput(t, nil, root, "work", "edit", "-json")), &work); err != nil {
		t.Fatal(err)
	}
	for _, use := range work.Use {
		dir := filepath.Join(root, use.DiskPath)
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		file, err := modfile.Parse("go.mod", mod, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(file.Replace) > 0 {
			t.Errorf("%s has a replacement, so go install cannot install it", dir)
		}
		var content bytes.Buffer
		of := module.Version{Path: file.Module.Mod.Path, Version: nextVersion}
		if err := zip.CreateFromDir(&content, of, dir); err != nil {
			t.Fatal(err)
		}
		versions := filepath.Join(proxy, filepath.FromSlash(of.Path), "@v")
		err = os.MkdirAll(versions, 0o777)
		for name, text := range map[string][]byte{
			"list": []byte(of.Version + "\n"), of.Version + ".info": []byte(`{"Version":"` + of.Version + `"}`),
			of.Version + ".mod": mod, of.Version + ".zip": content.Bytes(),
		} {
			err = errors.Join(err, os.WriteFile(filepath.Join(versions, name), text, 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// runGo runs the go command in the module and returns its output.
func (s *userModule) runGo(t *testing.T, args ...string) string {
	t.Helper()
	return goOutput(t, s.env, s.dir, args...)
}

// goOutput runs the go command in a folder and returns its output. The command must succeed.
// If env is nil, it has the environment of the test.
func goOutput(t *testing.T, env []string, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}
