package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/locksim/locksim/internal/website"
	"github.com/locksim/locksim/reports"
)

// manifestName is the file of a site that lists all its files. By this list the command site
// recognizes a folder that it may replace.
const manifestName = "site.json"

// siteSchema is the schema of a manifest.
const siteSchema = "locksim/site/v1"

// A manifest lists the files of a site, with slashes.
type manifest struct {
	Schema string   `json:"schema"`
	Files  []string `json:"files"`
}

// A siteWriter writes the files of a site into a new folder.
type siteWriter struct {
	dir   string
	files []string
}

// write writes one file; name is its path in the site, with slashes.
func (w *siteWriter) write(name string, data []byte) error {
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	w.files = append(w.files, name)
	return os.WriteFile(file, data, 0o666)
}

func (w *siteWriter) writePages(pages []website.Page) error {
	for _, p := range pages {
		if err := w.write(p.Name, p.Data); err != nil {
			return err
		}
	}
	return nil
}

// writeReport writes the pages of a report into a folder of the site.
func (w *siteWriter) writeReport(folder string, pages []reports.Page) error {
	for _, p := range pages {
		if err := w.write(folder+"/"+p.Name, p.Data); err != nil {
			return err
		}
	}
	return nil
}

// writeManifest writes the list of all files, itself included.
func (w *siteWriter) writeManifest() error {
	m := manifest{siteSchema, append(slices.Clone(w.files), manifestName)}
	slices.Sort(m.Files)
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return w.write(manifestName, append(data, '\n'))
}

// A siteFolder is the folder for a site. name is its name on the command line, and path is its
// path without symbolic links.
type siteFolder struct{ name, path string }

// findSiteFolder returns the folder called name. It returns an error if a site cannot be put
// there.
func findSiteFolder(name string) (siteFolder, error) {
	folder := siteFolder{name: name}
	if name == "" {
		return folder, errors.New("locksim site: the name of the folder is empty")
	}
	var err error
	if folder.path, err = filepath.Abs(name); err != nil {
		return folder, fmt.Errorf("locksim site %s: %w", name, systemError(err))
	}
	if target, err := filepath.EvalSymlinks(folder.path); err == nil {
		folder.path = target
	}
	if workingDir, err := os.Getwd(); err == nil {
		if from, err := filepath.Rel(folder.path, workingDir); err == nil && filepath.IsLocal(from) {
			return folder, fmt.Errorf("locksim site %s: the folder would be replaced, and it is or contains the working directory; name another folder", name)
		}
	}
	return folder, folder.check()
}

// check returns an error if the folder contains anything other than a site.
func (f siteFolder) check() error {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(f.path)); err != nil {
			return fmt.Errorf("locksim site %s: the folder %s does not exist; make it first", f.name, filepath.Dir(f.path))
		}
		return nil
	case err != nil:
		return fmt.Errorf("locksim site %s: %w", f.name, systemError(err))
	case !info.IsDir():
		return fmt.Errorf("locksim site %s: it is a file; name a folder", f.name)
	}
	known := map[string]bool{}
	for _, name := range f.readManifest().Files {
		known[name] = true
	}
	return fs.WalkDir(os.DirFS(f.path), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("locksim site %s: %w", f.name, systemError(err))
		case entry.IsDir() || known[name] && entry.Type().IsRegular():
			return nil
		}
		return fmt.Errorf("locksim site %s: the folder would be replaced, and it has %s, which is not of a site that locksim has made; move it away, or name another folder", f.name, name)
	})
}

// readManifest returns the manifest of the site in the folder; an empty one if there is none.
func (f siteFolder) readManifest() manifest {
	var m manifest
	data, err := os.ReadFile(filepath.Join(f.path, manifestName))
	if err != nil || json.Unmarshal(data, &m) != nil || m.Schema != siteSchema {
		return manifest{}
	}
	return m
}

// A keptSiteError says that neither the new site nor the old one is in its place, and where
// the old one is.
type keptSiteError struct{ error }

// replace replaces the folder by the new site, which is in the folder made. It moves the old site
// into scratch, a folder on the same file system. If the new site cannot be moved, replace puts
// the old one back. If that fails too, a [keptSiteError] says where the old site is.
func (f siteFolder) replace(made, scratch string) error {
	if err := f.check(); err != nil { // it can have changed while the site was made
		return err
	}
	old := filepath.Join(scratch, "old")
	err := os.Rename(f.path, old)
	existed := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("locksim site %s: it cannot be replaced: %w; name another folder", f.name, systemError(err))
	}
	if err := os.Rename(made, f.path); err != nil {
		if existed && os.Rename(old, f.path) != nil {
			return keptSiteError{fmt.Errorf("locksim site %s: it cannot be replaced: %w; what was there is in %s", f.name, systemError(err), old)}
		}
		return fmt.Errorf("locksim site %s: it cannot be written: %w", f.name, systemError(err))
	}
	return nil
}
