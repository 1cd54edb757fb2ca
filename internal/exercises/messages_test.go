package exercises

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Errors about the folder are in the reader's words.
func TestMessages(t *testing.T) {
	w := newWorkshop(t)
	begin := string(moduleFile(t, "lock.go"))
	for _, c := range []struct {
		name, old, new string
		want           []string
	}{
		{"a syntax error", "return nil, ErrNotAcquired", "return nil, ErrNotAcquired)", []string{"the lock does not compile:\nlock.go:47:29: syntax error"}},
		{"a wrong type", "&Lock{nodes, key, ttl}", "&Lock{nodes, ttl, key}", []string{"the lock does not compile:\nlock.go:28:22: cannot use ttl"}},
		{"New with other parameters", "key string, ttl time.Duration) *Lock {", "key string, ttl time.Duration, more int) *Lock {", []string{"the lock has other declarations than the exercise; it must have", "func New(nodes []*redis.Client, key string, ttl time.Duration) *Lock", "The compiler says: not enough arguments in call to exercise.New"}},
		{"Acquire with another result", "(*Lease, error) {", "(any, error) {", []string{"it must have", "func (*Lock) Acquire(ctx context.Context) (*Lease, error)"}},
		{"no Release", ") Release(", ") Unlock(", []string{"it must have", "func (*Lease) Release(ctx context.Context) error", "missing method Release"}},
		{"no Expires", ") Expires() time.Time", ") End() time.Time", []string{"it must have", "func (*Lease) Expires() time.Time", "missing method Expires"}},
		{"Expires with another result", "Expires() time.Time { return l.expires }", "Expires() int64 { return l.expires.Unix() }", []string{"it must have", "func (*Lease) Expires() time.Time", "wrong type for method Expires"}},
		{"no ErrNotAcquired", "ErrNotAcquired", "ErrTaken", []string{"it must have", "var ErrNotAcquired error"}},
		{"a program", "package lock", "package main", []string{"lock.go is package main"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(begin, c.old) {
				t.Fatalf("lock.go does not contain %q", c.old)
			}
			text := strings.ReplaceAll(begin, c.old, c.new)
			name, _, _ := strings.Cut(text[strings.Index(text, "\npackage ")+1:], "\n")
			w.write(t, "lock.go", []byte(text))
			w.write(t, "lock_test.go", []byte(name+"\n\nvar _ = aTestThatDoesNotCompileDoesNotMatter\n"))
			err := openAndBuild(t, w.dir)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		})
	}
	w.write(t, "lock.go", []byte(begin))
	w.write(t, "lock_test.go", moduleFile(t, "lock_test.go"))
	mod, err := os.ReadFile(filepath.Join(w.dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(mod), "replace ")
	w.write(t, "go.mod", []byte(before+"replace github.com/locksim/locksim => ../moved\n"))
	want := "the clone of locksim that go.mod names is not at ../moved; correct the path in go.mod"
	if err := openAndBuild(t, w.dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("with a clone that has moved: %v", err)
	}
	w.write(t, "go.mod", mod)
	if err := os.Remove(filepath.Join(w.dir, "go.sum")); err != nil {
		t.Fatal(err)
	}
	if err := openAndBuild(t, w.dir); err == nil || !strings.Contains(err.Error(), "which modules the lock needs; run go mod tidy in the folder") {
		t.Errorf("without go.sum: %v", err)
	}
	t.Setenv("PATH", "")
	if err := openAndBuild(t, w.dir); err == nil || !strings.Contains(err.Error(), "the command go is not found; install Go") {
		t.Errorf("without Go: %v", err)
	}
}

// openAndBuild compiles the lock in a folder.
func openAndBuild(t *testing.T, dir string) error {
	t.Helper()
	trial, err := OpenTrial(t.Context(), dir)
	if err != nil {
		return err
	}
	defer trial.Close()
	return trial.Build(t.Context())
}
