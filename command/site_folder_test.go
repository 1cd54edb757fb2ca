package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeSite writes a site with one page that has this text.
func writeSite(t *testing.T, dir, text string) {
	t.Helper()
	w := &siteWriter{dir: dir}
	for _, err := range []error{w.write("index.html", []byte(text)), w.write("docs/a.html", nil), w.writeManifest()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The command site replaces a site, and nothing else.
func TestSiteReplacesSitesOnly(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(t *testing.T, dir string)
		want   string // a part of the error; "" if the folder may be replaced
	}{
		{"no folder", func(*testing.T, string) {}, ""},
		{"an empty folder", func(t *testing.T, dir string) { os.Mkdir(dir, 0o777) }, ""},
		{"a site", func(t *testing.T, dir string) { writeSite(t, dir, "old") }, ""},
		{"a file", func(t *testing.T, dir string) { os.WriteFile(dir, nil, 0o666) }, "it is a file"},
		{"a folder with another file", func(t *testing.T, dir string) {
			os.Mkdir(dir, 0o777)
			os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o666)
		}, "it has thesis.txt"},
		{"a site with another file", func(t *testing.T, dir string) {
			writeSite(t, dir, "old")
			os.WriteFile(filepath.Join(dir, "docs", "CNAME"), nil, 0o666)
		}, "it has docs/CNAME"},
		{"a site with a link in the place of a page", func(t *testing.T, dir string) {
			writeSite(t, dir, "old")
			os.Remove(filepath.Join(dir, "docs", "a.html"))
			if err := os.Symlink("../index.html", filepath.Join(dir, "docs", "a.html")); err != nil {
				t.Skip(err)
			}
		}, "it has docs/a.html"},
		{"a file list of another program", func(t *testing.T, dir string) {
			os.Mkdir(dir, 0o777)
			os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"schema": "other/v1", "files": ["site.json"]}`), 0o666)
		}, "it has site.json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "out")
			test.before(t, dir)
			folder, err := findSiteFolder(dir)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("the error is %v, want one with %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			scratch := t.TempDir()
			made := filepath.Join(scratch, "made")
			writeSite(t, made, "new")
			if err := folder.replace(made, scratch); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "index.html")); string(data) != "new" {
				t.Errorf("the page has %q (%v), want the new one", data, err)
			}
		})
	}
}

// The working directory and what contains it cannot be replaced.
func TestSiteDoesNotReplaceTheWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{".", "..", "", string(filepath.Separator)} {
		if _, err := findSiteFolder(name); err == nil {
			t.Errorf("the site may be put into %q", name)
		}
	}
	if _, err := findSiteFolder("out"); err != nil {
		t.Error(err)
	}
}
