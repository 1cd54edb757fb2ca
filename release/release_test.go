package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test program is also the emulator of TestTry: it gets the path of a program and its
// arguments, and prints what the program's file says.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasSuffix(os.Args[1], "/locksim") {
		text, err := os.ReadFile(os.Args[1])
		if err != nil || len(os.Environ()) > 0 || strings.Contains(string(text), "fails on "+os.Args[2]) {
			fmt.Fprintln(os.Stderr, "the program fails", err, os.Environ())
			os.Exit(1)
		}
		fmt.Println(string(text))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// copyVersions copies the files with versions of this repository into a folder, and gives the
// changelog a heading for a version.
func copyVersions(t *testing.T, heading string) string {
	t.Helper()
	work, err := readMod("../go.work")
	if err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir()
	names := []string{"go.work"}
	for _, u := range work.Use {
		names = append(names, filepath.Join(u.DiskPath, "go.mod"))
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("..", name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(clone, name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(clone, name), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(clone, "CHANGELOG.md"), []byte("# Changelog\n\n"+heading+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return clone
}

// nextVersion is the version that the modules of this repository require of each other.
func nextVersion(t *testing.T) string {
	t.Helper()
	work, err := readMod("../go.work")
	if err != nil || len(work.Replace) == 0 {
		t.Fatalf("go.work replaces nothing (%v)", err)
	}
	return work.Replace[0].Old.Version
}

// Each file of this repository has one version, so that its tag can be checked.
func TestCheckAcceptsThisRepository(t *testing.T) {
	v := nextVersion(t)
	if err := check(copyVersions(t, "## "+v+" (2026-01-02)"), v); err != nil {
		t.Error(err)
	}
}

// A tag that does not match a version in a go.mod file fails.
func TestCheckRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("the test calls go list for the modules of eleven clones")
	}
	v := nextVersion(t)
	replace := func(name, old, new string) func(string) error {
		return func(clone string) error {
			file := filepath.Join(clone, name)
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if !bytes.Contains(text, []byte(old)) {
				return fmt.Errorf("%s has no %q", name, old)
			}
			return os.WriteFile(file, bytes.Replace(text, []byte(old), []byte(new), 1), 0o666)
		}
	}
	keep := func(string) error { return nil }
	for _, test := range []struct {
		what, tag, heading string
		change             func(clone string) error
		want               string
	}{
		{"another tag", "v9.9.9", "## v9.9.9", keep, "is not a version"},
		{"a later tag", "v0.9.9", "## v0.9.9", keep, "cmd/locksim/go.mod requires github.com/locksim/locksim/command " + v + "; the tag is v0.9.9"},
		{"no tag", "main", "## main", keep, "is not a version"},
		{"an option", "--upload", "## --upload", keep, "is not a version"},
		{"a nested module", v, "## " + v, replace("libraries/go.mod", "locksim/servers/etcd "+v, "locksim/servers/etcd v0.0.1"), "libraries/go.mod requires github.com/locksim/locksim/servers/etcd v0.0.1"},
		{"the workspace", v, "## " + v, replace("go.work", "locksim/libraries/sqlite "+v, "locksim/libraries/sqlite v0.0.1"), "go.work replaces github.com/locksim/locksim/libraries/sqlite v0.0.1"},
		{"a module that the workspace lacks", v, "## " + v, replace("go.work", "github.com/locksim/locksim/command "+v+" => ./command", ""), "which go.work does not replace"},
		{"a replace directive", v, "## " + v, replace("command/go.mod", "require (", "replace github.com/locksim/locksim => ../\n\nrequire ("), "command/go.mod has a replace directive"},
		{"another path", v, "## " + v, replace("command/go.mod", "module github.com/locksim/locksim/command", "module github.com/locksim/locksim/v2/command"), "command/go.mod: the module is"},
		{"no heading", v, "## Unreleased", keep, "CHANGELOG.md has no heading ## " + v},
		{"the heading of a longer version", v, "## " + v + "0", keep, "CHANGELOG.md has no heading ## " + v},
	} {
		clone := copyVersions(t, test.heading)
		if err := test.change(clone); err != nil {
			t.Fatalf("%s: %v", test.what, err)
		}
		if err := check(clone, test.tag); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.what, err, test.want)
		}
	}
}

// All modules that others can require are tagged together, and the document of a release
// names the tags.
func TestTags(t *testing.T) {
	v := nextVersion(t)
	tags, err := tagsOf("..", v)
	if err != nil {
		t.Fatal(err)
	}
	if tags[0] != v || !slices.Contains(tags, "cmd/locksim-all/"+v) || slices.Contains(tags, "playground/"+v) {
		t.Errorf("the tags are %q", tags)
	}
	text, err := os.ReadFile("../docs/releasing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range tags {
		if !strings.Contains(string(text), "`"+tag+"`") {
			t.Errorf("docs/releasing.md does not name the tag %s", tag)
		}
	}
	if found := strings.Count(string(text), "/"+v+"`") + 1; found != len(tags) {
		t.Errorf("docs/releasing.md names %d tags, and a release has %d", found, len(tags))
	}
}

func TestArchives(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UTC()
	files := []file{{"locksim", []byte("program"), 0o755}, {"licences/a.b/LICENSE", []byte("text"), 0o644}}
	for _, name := range []string{"x.tar.gz", "x.zip"} {
		archive, again := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
		if err := writeArchive(archive, slices.Clone(files), at); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(files)
		if err := writeArchive(again, slices.Clone(files), at); err != nil {
			t.Fatal(err)
		}
		one, _ := os.ReadFile(archive)
		other, _ := os.ReadFile(again)
		if !bytes.Equal(one, other) {
			t.Errorf("%s: the order of the files changes the archive", name)
		}
		folder := t.TempDir()
		if err := unpack(archive, folder); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(filepath.Join(folder, f.name))
			if err != nil || !bytes.Equal(data, f.data) {
				t.Errorf("%s: %s has %q (%v)", name, f.name, data, err)
			}
		}
		if info, err := os.Stat(filepath.Join(folder, "locksim")); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: the program is not executable (%v)", name, err)
		}
		if err := writeArchive(archive, []file{{"../x", nil, 0o644}}, at); err != nil {
			t.Fatal(err)
		}
		if err := unpack(archive, folder); err == nil || !strings.Contains(err.Error(), "leads out") {
			t.Errorf("%s: a name that leads out of the archive: %v", name, err)
		}
	}
}

func TestPackAndSums(t *testing.T) {
	folder, out := t.TempDir(), t.TempDir()
	if err := packFolder(folder, filepath.Join(out, "empty.tar.gz")); err == nil {
		t.Error("an empty folder is packed")
	}
	if err := os.WriteFile(filepath.Join(folder, "index.html"), []byte("page"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := packFolder(folder, filepath.Join(out, "site.tar.gz")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "abc"), []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(out, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the sums of the first time are not summed
		if err := writeSums(out); err != nil {
			t.Fatal(err)
		}
	}
	sums, _ := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if !strings.HasPrefix(string(sums), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n") || strings.Count(string(sums), "\n") != 2 {
		t.Errorf("the sums are\n%s", sums)
	}
}

func TestSBOM(t *testing.T) {
	info := &buildinfo.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: ownModule + "/cmd/locksim-all", Version: "v0.1.0"},
		Deps: []*debug.Module{
			{Path: ownModule, Version: "(devel)"},
			{Path: "example.com/a", Version: "v1.2.3", Sum: "h1:x="},
			{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v2.0.0", Sum: "h1:y="}},
		},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "GOOS", Value: "linux"}},
	}
	file := filepath.Join(t.TempDir(), "sbom.json")
	if err := writeSBOM(file, info, "v0.1.0", "linux/arm64"); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(file)
	var s sbom
	if err := json.Unmarshal(data, &s); err != nil || s.Format != "CycloneDX" {
		t.Fatalf("%s (%v)", data, err)
	}
	var purls []string
	for _, c := range append([]component{s.Metadata.Component}, s.Components...) {
		purls = append(purls, c.PURL)
	}
	want := []string{
		"pkg:golang/github.com/locksim/locksim/cmd/locksim-all@v0.1.0", "pkg:golang/stdlib@1.26.8",
		"pkg:golang/github.com/locksim/locksim@v0.1.0", "pkg:golang/example.com/a@v1.2.3", "pkg:golang/example.com/fork@v2.0.0",
	}
	if !slices.Equal(purls, want) {
		t.Errorf("got  %q\nwant %q", purls, want)
	}
	if !strings.Contains(string(data), `"h1:y="`) || !strings.Contains(string(data), `"abc"`) || !strings.Contains(string(data), "linux/arm64") {
		t.Errorf("a sum, the commit or the platform is missing:\n%s", data)
	}
}

func TestLicences(t *testing.T) {
	folder := t.TempDir()
	if _, err := licencesIn(folder, "licences/x"); err == nil {
		t.Error("a module without a licence is accepted")
	}
	for _, name := range []string{"LICENSE.txt", "NOTICE", "license.go", "main.go"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files, err := licencesIn(folder, "licences/x")
	if err != nil || len(files) != 2 || files[0].name != "licences/x/LICENSE.txt" || files[1].name != "licences/x/NOTICE" {
		t.Errorf("%v, %v", files, err)
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, test := range []struct {
		version  string
		platform []string
		want     string
	}{
		{"0.1.0", nil, "is not a version"},
		{"v0.1.0", []string{"plan9/amd64"}, "is not one of"},
	} {
		if err := buildAll(t.TempDir(), test.version, "", test.platform); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %q", test.version, test.platform, err, test.want)
		}
	}
	if err := run([]string{"publish", "v0.1.0"}); err == nil {
		t.Error("an unknown subcommand is accepted")
	}
}

// try fails if a trial fails, or prints something else.
func TestTry(t *testing.T) {
	good := ""
	for _, trial := range trials {
		good += trial.want + "\n"
	}
	for _, test := range []struct{ program, want string }{
		{good, ""},
		{good + "fails on list", "locksim list: exit status 1"},
		{"", "locksim version does not print"},
	} {
		archive := filepath.Join(t.TempDir(), "locksim_0.1.0_linux_arm64.tar.gz")
		if err := writeArchive(archive, []file{{"locksim", []byte(test.program), 0o755}}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		err := try(archive, os.Args[0])
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}
