package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copyModule copies the module of the lock if it is in the module cache, and makes the go
// command use the copy instead. In this case it sets lock.Dir to the package's folder in the
// copy.
func (s *Subject) copyModule(ctx context.Context, lock *listedPackage) error {
	out, err := s.run(ctx, "env", "-json", "GOMODCACHE", "GOWORK", "GOMOD")
	if err != nil {
		return err
	}
	var env struct{ GOMODCACHE, GOWORK, GOMOD string }
	if err := json.Unmarshal(out, &env); err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	inCache := strings.HasPrefix(lock.Dir, filepath.Clean(env.GOMODCACHE)+string(filepath.Separator))
	if lock.Module == nil || !inCache {
		return nil
	}
	inModule, err := filepath.Rel(lock.Module.Dir, lock.Dir)
	if err != nil {
		return err
	}
	s.module, s.copied = lock.Module, filepath.Join(s.temp, "module")
	if err := copyFolder(s.copied, lock.Module.Dir); err != nil {
		return err
	}
	lock.Dir = filepath.Join(s.copied, inModule)
	if env.GOWORK != "" && env.GOWORK != "off" {
		return s.writeWork(ctx, env.GOWORK)
	}
	return s.writeMod(ctx, env.GOMOD)
}

// copyFolder copies a folder with its files and subfolders. The files in the module cache are
// read-only. The copies are writable, so that they can be removed.
func copyFolder(to, from string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			return os.Mkdir(target, 0o700)
		}
		return copyFile(target, name)
	})
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// copySums copies a file of checksums, such as go.sum, if there is one.
func copySums(to, from string) error {
	if err := copyFile(to, from); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeMod writes a go.mod that replaces the module by the copy, and makes the go command use
// this go.mod.
func (s *Subject) writeMod(ctx context.Context, mod string) error {
	own := filepath.Join(s.temp, "go.mod")
	err := errors.Join(copyFile(own, mod), copySums(filepath.Join(s.temp, "go.sum"), strings.TrimSuffix(mod, ".mod")+".sum"))
	if err == nil {
		_, err = s.run(ctx, "mod", "edit", "-replace="+s.module.Path+"="+s.copied, own)
	}
	s.modFlags = []string{"-modfile=" + own}
	return err
}

// writeWork writes a go.work that replaces the module by the copy, and makes the go command
// use this go.work. Its other paths are absolute, because it is not in the folder of the
// user's go.work.
func (s *Subject) writeWork(ctx context.Context, work string) error {
	out, err := s.run(ctx, "work", "edit", "-json", work)
	if err != nil {
		return err
	}
	type version struct{ Path, Version string }
	var old struct {
		Go      string
		Use     []struct{ DiskPath string }
		Replace []struct{ Old, New version }
	}
	if err := json.Unmarshal(out, &old); err != nil {
		return fmt.Errorf("go work edit: %w", err)
	}
	absolute := func(name string) string {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(work), name)
		}
		return fmt.Sprintf("%q", name)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "go %s\n", old.Go)
	for _, u := range old.Use {
		fmt.Fprintf(&text, "use %s\n", absolute(u.DiskPath))
	}
	for _, r := range old.Replace {
		if r.Old.Path == s.module.Path {
			continue
		}
		by := absolute(r.New.Path)
		if r.New.Version != "" {
			by = r.New.Path + " " + r.New.Version
		}
		fmt.Fprintf(&text, "replace %s %s => %s\n", r.Old.Path, r.Old.Version, by)
	}
	fmt.Fprintf(&text, "replace %s => %q\n", s.module.Path, s.copied)
	own := filepath.Join(s.temp, "go.work")
	s.env = []string{"GOWORK=" + own}
	return errors.Join(os.WriteFile(own, []byte(text.String()), 0o600), copySums(own+".sum", work+".sum"))
}
