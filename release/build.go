package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms are the platforms for which a release has an archive.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// snapshot takes the place of the version if the program is built only to try the build.
const snapshot = "snapshot"

// buildAll builds the archives for the platforms in only, or for all platforms if it is
// empty. v is the version, or snapshot. program is the package to build; "" means the one
// that a release ships.
func buildAll(out, v, program string, only []string) error {
	if v != snapshot && !version.MatchString(v) {
		return fmt.Errorf("%q is not a version such as v0.1.0; write %s to try a build", v, snapshot)
	}
	for _, p := range only {
		if !slices.Contains(platforms, p) {
			return fmt.Errorf("the platform %s is not one of %s", p, strings.Join(platforms, ", "))
		}
	}
	if len(only) == 0 {
		only = platforms
	}
	at, err := commitTime()
	if err != nil {
		return err
	}
	for _, p := range only {
		if err := build(out, v, cmp.Or(program, "./cmd/locksim-all"), p, at); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// commitTime returns the time of the commit that is checked out. All files in an archive have
// this time, so that the same commit makes the same archives.
func commitTime() (time.Time, error) {
	text, err := output(".", "git", "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// build builds the program for one platform. It writes the program to OUT/bin, from which the
// container image is made, and an archive and an SBOM to OUT.
func build(out, v, program, platform string, at time.Time) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	name := "locksim"
	if goos == "windows" {
		name += ".exe"
	}
	binary := filepath.Join(out, "bin", goos+"_"+goarch, name)
	// The tag leaves out the tracing of gRPC, which etcd's client uses. The tracing executes
	// templates, which call methods by their names. So the linker would keep every exported
	// method, and the stripped program would have 90 MB in place of 62.
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-tags=grpcnotrace", "-ldflags=-s -w", "-o", binary, program)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	if v != snapshot && info.Main.Version != v {
		return fmt.Errorf("the program says that it is %s; the commit needs the tag %s/%s, and nothing uncommitted", info.Main.Version, strings.TrimPrefix(program, "./"), v)
	}
	files, err := licencesOf(info)
	if err != nil {
		return err
	}
	for _, f := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		files = append(files, file{name: f, data: data, mode: 0o644})
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	files = append(files, file{name: name, data: data, mode: 0o755})
	base := filepath.Join(out, "locksim_"+strings.TrimPrefix(v, "v")+"_"+goos+"_"+goarch)
	archive := base + ".tar.gz"
	if goos == "windows" {
		archive = base + ".zip"
	}
	return errors.Join(writeArchive(archive, files, at), writeSBOM(base+".sbom.json", info, v, platform))
}

// writeSums writes the SHA-256 sums of all files of a folder, in the format of sha256sum.
func writeSums(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == "SHA256SUMS" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	if text.Len() == 0 {
		return fmt.Errorf("%s has no files", out)
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(text.String()), 0o666)
}
