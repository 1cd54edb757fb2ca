package exercises

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// openAll compiles many locks into one program, because each program takes seconds to link.
// It returns a trial for each lock, in which the program runs that lock alone.
func (w workshop) openAll(t *testing.T, locks [][]byte) []*Trial {
	t.Helper()
	grader, err := graderFiles.ReadFile("_grader/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var imports, cases strings.Builder
	trials := make([]*Trial, len(locks))
	for i, lock := range locks {
		name := fmt.Sprintf("lock%d", i)
		w.mkdir(t, name, "grader")
		w.write(t, name+"/lock.go", lock)
		text := bytes.Replace(grader, []byte("package main"), []byte("package grader"), 1)
		text = bytes.Replace(text, []byte("func main()"), []byte("func Main()"), 1)
		text = bytes.Replace(text, []byte("example.com/exercise"), []byte("example.com/lock/"+name), 1)
		w.write(t, name+"/grader/main.go", text)
		fmt.Fprintf(&imports, "\t%s \"example.com/lock/%s/grader\"\n", name, name)
		fmt.Fprintf(&cases, "\tcase \"%d\":\n\t\t%s.Main()\n", i, name)

		trials[i], err = OpenTrial(t.Context(), w.dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { trials[i].Close() })
		trials[i].sources = lock
		trials[i].env = append(trials[i].env, "LOCK="+strconv.Itoa(i))
	}
	w.mkdir(t, "crowd")
	w.write(t, "crowd/main.go", fmt.Appendf(nil, "package main\n\nimport (\n\t\"os\"\n\n%s)\n\nfunc main() {\n\tswitch os.Getenv(\"LOCK\") {\n%s\t}\n}\n", &imports, &cases))

	program := filepath.Join(t.TempDir(), "crowd.exe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./crowd")
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, trial := range trials {
		if err := os.Symlink(program, trial.program()); err != nil {
			t.Fatal(err)
		}
	}
	return trials
}

// mkdir makes a folder in the workshop.
func (w workshop) mkdir(t *testing.T, parts ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(w.dir, filepath.Join(parts...)), 0o777); err != nil {
		t.Fatal(err)
	}
}
