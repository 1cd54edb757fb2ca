//go:build unix

package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// readFolder returns the contents of the files in a folder, by their names.
func readFolder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// Temporary files of killed processes cause no problem, even if those processes had the
// same ID as this one, as in a container.
func TestStaleTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	report := filepath.Join(dir, "report")
	for _, stale := range []string{fmt.Sprintf(".report.%d", os.Getpid()), ".locksim-0000000000000000"} {
		if err := os.WriteFile(filepath.Join(dir, stale), []byte("half a rep"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"new", "newer"} {
		if err := errors.Join(checkFile(report), writeFile(report, []byte(text))); err != nil {
			t.Fatal(err)
		}
		if files := readFolder(t, dir); files["report"] != text || len(files) != 3 {
			t.Errorf("the folder has the files %v, want the report %q and the two stale files", files, text)
		}
	}
}

func TestPermissionsOfAFile(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	report := filepath.Join(t.TempDir(), "report")
	mode := func() fs.FileMode {
		t.Helper()
		if err := writeFile(report, []byte("text")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(report)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if got := mode(); got != 0o640 {
		t.Errorf("a new file has the permissions %v, want 0640, which the umask 027 leaves", got)
	}
	for _, own := range []fs.FileMode{0o666, 0o600, 0o444} {
		if err := os.Chmod(report, own); err != nil {
			t.Fatal(err)
		}
		if got := mode(); got != own {
			t.Errorf("a file had the permissions %v and has %v after it was written again; want no change", own, got)
		}
	}
}

// After a failure or an interrupt in the middle of a write, there is either the old file or
// the new one, and no other file.
func TestFileIsReplacedAsAWhole(t *testing.T) {
	broken := errors.New("no room")
	for _, c := range []struct {
		name   string
		middle func(*testing.T) error // happens when a part of the new text has been written
		want   error
		text   string // of the file afterwards
	}{
		{"the write fails", func(*testing.T) error { return broken }, broken, "old"},
		{"SIGTERM interrupts the write", func(t *testing.T) error {
			seen := make(chan os.Signal, 1)
			signal.Notify(seen, syscall.SIGTERM)
			defer signal.Stop(seen)
			if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
				return err
			}
			<-seen
			return nil
		}, errInterrupted, "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			report := filepath.Join(dir, "report")
			if err := os.WriteFile(report, []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			err := replaceFile(report, func(f *os.File) error {
				fmt.Fprint(f, "n")
				err := c.middle(t)
				fmt.Fprint(f, "ew")
				return err
			})
			if !errors.Is(err, c.want) {
				t.Errorf("the error is %v, want %v", err, c.want)
			}
			if files := readFolder(t, dir); files["report"] != c.text || len(files) != 1 {
				t.Errorf("the folder has the files %q, want only the report with the text %q", files, c.text)
			}
		})
	}
}
