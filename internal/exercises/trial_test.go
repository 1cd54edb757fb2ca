package exercises

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A workshop is a folder as the reader has it. The tests put one lock after the other into it.
type workshop struct{ dir string }

// newWorkshop makes a folder whose module uses this clone of locksim. Its go.mod and go.sum
// are those of locksim, so nothing needs to be downloaded.
func newWorkshop(t *testing.T) workshop {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles locks")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	w := workshop{t.TempDir()}
	for _, f := range ModuleFiles() {
		w.write(t, f.Name, f.Data)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod = bytes.Replace(mod, []byte("module github.com/locksim/locksim\n"), []byte("module example.com/lock\n"), 1)
	w.write(t, "go.mod", append(mod, "\nrequire github.com/locksim/locksim v0.1.0\n\nreplace github.com/locksim/locksim => "+root+"\n"...))
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "go.sum", sum)
	t.Setenv("GOWORK", "off")
	return w
}

func (w workshop) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// open compiles a lock.
func (w workshop) open(t *testing.T, lock []byte) *Trial {
	t.Helper()
	w.write(t, "lock.go", lock)
	trial, err := OpenTrial(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trial.Close() })
	if err := trial.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	return trial
}

// reached returns the highest stage that a lock has reached, and why not the next.
func reached(t *testing.T, trial *Trial) (stage int, why *Failure) {
	t.Helper()
	for _, s := range Stages() {
		why, err := trial.Check(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if why != nil {
			return s.Number - 1, why
		}
	}
	return len(Stages()), nil
}

// solution returns the model solution of a stage; that of stage 0 is the lock that the reader
// begins with.
func solution(t *testing.T, stage int) []byte {
	t.Helper()
	if stage == 0 {
		return moduleFile(t, "lock.go")
	}
	all, err := filepath.Glob("_solutions/" + string(rune('0'+stage)) + "-*/lock.go")
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	data, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func moduleFile(t *testing.T, name string) []byte {
	t.Helper()
	for _, f := range ModuleFiles() {
		if f.Name == name {
			return f.Data
		}
	}
	t.Fatal("there is no file " + name)
	return nil
}

// The solution of each stage reaches that stage, and not the next one.
func TestSolutions(t *testing.T) {
	var solutions [][]byte
	for stage := range len(Stages()) + 1 {
		solutions = append(solutions, solution(t, stage))
	}
	for stage, trial := range newWorkshop(t).openAll(t, solutions) {
		got, why := reached(t, trial)
		if got != stage {
			t.Errorf("the solution of stage %d reaches stage %d: %+v", stage, got, why)
		}
		if overwrites := "acquire overwrites the key of another acquisition"; stage == 0 && !strings.Contains(why.Why, overwrites) {
			t.Errorf("the check of the lock that the reader begins with says %+v, want %q", why, overwrites)
		}
		if why != nil && (why.Why == "" || why.Hint == "") {
			t.Errorf("the check does not say why the solution of stage %d does not reach the next: %+v", stage, why)
		}
	}
}

// The example of a failure can be run again, also with a lock that was changed meanwhile.
func TestReplay(t *testing.T) {
	w := newWorkshop(t)
	trial := w.open(t, solution(t, 1))
	failure, err := trial.Check(t.Context(), Stages()[1])
	if err != nil || failure == nil {
		t.Fatalf("the lock of stage 1 reaches stage 2: %v", err)
	}
	again, err := trial.Replay(t.Context(), failure.Address, false)
	if err != nil || again.Failure == nil || again.Failure.Example != failure.Example || !strings.Contains(again.Timeline, "removes client-") {
		t.Errorf("the replay of %s shows something else: %v\n%+v\n%+v", failure.Address, err, failure, again)
	}
	again, err = w.open(t, solution(t, 2)).Replay(t.Context(), failure.Address, true)
	if err != nil || again.Failure != nil || !strings.Contains(again.Timeline, " GET job-") {
		t.Errorf("the solution of stage 2 fails in a world of stage 2: %v\n%+v", err, again)
	}
	if _, err := trial.Replay(t.Context(), "nowhere/1", false); err == nil {
		t.Error("a world that does not exist is run again")
	}
}

// A lock in a folder behind a symbolic link is compiled too. What it prints is part of a
// replay, up to a limit.
func TestReplayOfALockThatPrints(t *testing.T) {
	w := newWorkshop(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Skip(err)
	}
	text := strings.ReplaceAll(string(solution(t, 1)), "\t\"time\"\n", "\t\"fmt\"\n\t\"os\"\n\t\"time\"\n")
	text = strings.Replace(text, "(*Lease, error) {\n", "(*Lease, error) {\n\tfmt.Println(\"asks\", \"\\x1b[31m\")\n\tfmt.Fprintln(os.Stderr, make([]int, 20_000))\n", 1)
	trial := workshop{link}.open(t, []byte(text))
	replay, err := trial.Replay(t.Context(), "in-turn/7", false)
	if err != nil {
		t.Fatal(err)
	}
	if got := replay.Printed; len(got) < 2 || got[0] != `asks \x1b[31m` || !strings.HasSuffix(got[len(got)-1], " bytes more") {
		t.Errorf("the replay says that the lock printed %.1000q", got)
	}
}

// A right lock passes on any seeds.
func TestSolutionsOnManySeeds(t *testing.T) {
	stages := []int{5, 7}
	for i, trial := range newWorkshop(t).openAll(t, [][]byte{solution(t, stages[0]), solution(t, stages[1])}) {
		stage := stages[i]
		for range 6 {
			trial.sources = append(trial.sources, 'x') // the seeds depend on them
			if got, why := reached(t, trial); got != stage {
				t.Errorf("the solution of stage %d reaches stage %d: %+v", stage, got, why)
			}
		}
	}
}

// The lock that the reader begins with compiles together with its test, and the test passes.
func TestModuleFiles(t *testing.T) {
	w := newWorkshop(t)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-v", ".")
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "client-2 holds the lock from") {
		t.Errorf("go test: %v\n%s", err, out)
	}
}
