package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// A file of the largest size of its kind can be read. Reading stops with an error at a
// larger file, even if that file never ends.
func TestFileKindIsBounded(t *testing.T) {
	kind := fileKind{"a thing", 8, "name another"}
	for _, text := range []string{"", "1234567", "12345678"} {
		if data, err := kind.read(strings.NewReader(text)); err != nil || string(data) != text {
			t.Errorf("%q is read as %q, with the error %v", text, data, err)
		}
	}
	const refused = "it is larger than 8 bytes, and a thing has at most that many; name another"
	for name, r := range map[string]io.Reader{"one byte too many": strings.NewReader("123456789"), "a file that never ends": endless{}} {
		if data, err := kind.read(r); err == nil || err.Error() != refused || len(data) > kind.maxBytes+1 {
			t.Errorf("%s: %d bytes are read, with the error %v; want the beginning, with the error %q", name, len(data), err, refused)
		}
	}
	broken := errors.New("broken")
	if _, err := kind.read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: the error is %v, want %v", err, broken)
	}
}

// endless is a file that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// readFile's errors do not contain the name of the file, because the caller adds it.
func TestFileKindReadFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "small")
	if err := os.WriteFile(name, []byte("small"), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, err := scenarioFile.readFile(name); err != nil || string(data) != "small" {
		t.Errorf("the file is read as %q, with the error %v", data, err)
	}
	if _, err := scenarioFile.readFile(dir); err == nil || err.Error() != "it is a directory; name a file in it" {
		t.Errorf("the error for a directory is %v", err)
	}
	if _, err := scenarioFile.readFile(filepath.Join(dir, "not-here")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error for a missing file is %v, want %v", err, fs.ErrNotExist)
	}
}
