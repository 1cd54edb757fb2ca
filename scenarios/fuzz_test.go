package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// Parse never panics, whatever a file contains. Each problem is one line that begins with
// the file's name. A file without problems can be turned into a world, unless the program
// lacks the servers.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("*.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatalf("there are no scenarios here: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, m := range simtest.Mistakes {
		text := m.Text()
		if len(text) < 10_000 { // longer texts only slow down the fuzzing
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("x.yaml", data)
		if err != nil {
			lines := strings.Split(err.Error(), "\n")
			if len(lines) > maxErrors {
				t.Errorf("%d problems are reported, want at most %d", len(lines), maxErrors)
			}
			for _, line := range lines {
				rest, ok := strings.CutPrefix(line, "x.yaml:")
				if !ok || strings.TrimSpace(rest) == "" || strings.ContainsAny(line, "\r\x00\u2028") {
					t.Errorf("this line of the error does not report a problem: %q", line)
				}
			}
			return
		}
		if len(s.Variants) == 0 || s.Title == "" {
			t.Fatalf("the scenario is empty: %+v", s)
		}
		for _, v := range s.Variants {
			for _, fencing := range []string{Off, On} {
				var missing *sim.MissingSystem
				if _, err := v.Config(Options{Fencing: fencing}); err != nil && !errors.As(err, &missing) {
					t.Errorf("variant %q parses, but cannot be turned into a world: %v", v.Name, err)
				}
			}
		}
	})
}

// No override makes a scenario panic. Each error names the override or the file, on a line.
func FuzzOverride(f *testing.F) {
	s, err := Open("gc-pause")
	if err != nil {
		f.Fatal(err)
	}
	for path, value := range WrittenValues(s.Variants[0]) {
		f.Add(path + "=" + value)
	}
	for _, set := range []string{"lock.nodes=null", "faults[2]={crash: redis-1, at: 3s}", "lock={}", "faults=[]", "clients.x.y[3].z=1", "a[1][1]=[[1]]", "lock.ttl=&x 3s", "faults[1]=~"} {
		f.Add(set)
	}
	f.Fuzz(func(t *testing.T, text string) {
		changed, err := s.With(text)
		if err == nil {
			if _, err := changed.Variants[0].Config(Options{Fencing: On}); err != nil {
				t.Errorf("%q is accepted, but gives no world: %v", text, err)
			}
			return
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if strings.TrimSpace(line) == "" || strings.ContainsAny(line, "\r\x00\u2028") {
				t.Errorf("this line of the error does not report a problem: %q", line)
			}
		}
	})
}
