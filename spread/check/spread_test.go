//go:build unix

package check

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// The examples search for hours. The test runs their own commands with a program in the place
// of locksim that makes the search small: it tries one fault on a simple lock, and leaves everything
// else to locksim.
const small = `#!/bin/sh
case $1 in
explore)
	for a; do
		shift
		case $a in
		redlock) a=single ;;
		esac
		set -- "$@" "$a"
	done
	set -- "$@" --max-faults 1 --only hold # the last of two flags counts
	;;
esac
exec "$LOCKSIM" "$@"
`

// A searcher is a folder in which the commands of an example run, with locksim in PATH.
type searcher struct {
	t   *testing.T
	dir string
	env []string
}

func newSearcher(t *testing.T, locksim string) *searcher {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "locksim"), []byte(small), 0o755); err != nil {
		t.Fatal(err)
	}
	return &searcher{t, t.TempDir(), append(os.Environ(), "LOCKSIM="+locksim, "PATH="+bin+":"+os.Getenv("PATH"))}
}

// command prepares a script for the shell.
func (s *searcher) command(script string, env ...string) *exec.Cmd {
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = s.dir, append(s.env, env...)
	return cmd
}

// run runs a script. The search ends with status 1, because the lock single breaks.
func (s *searcher) run(script string, env ...string) string {
	s.t.Helper()
	out, err := s.command(script, env...).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		s.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// killAtLine starts a script, and kills it with everything that it has started when its
// ledger has some lines.
func (s *searcher) killAtLine(lines int, ledger, script string, env ...string) {
	s.t.Helper()
	cmd := s.command(script, env...)
	killable(cmd)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		text, _ := os.ReadFile(filepath.Join(s.dir, ledger))
		if bytes.Count(text, []byte("\n")) >= lines {
			break
		}
		select {
		case err := <-ended:
			s.t.Fatalf("the part ended before it was killed: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	kill(cmd)
	<-ended
}

// merged merges the ledgers and returns the report.
func (s *searcher) merged() string {
	s.t.Helper()
	return s.run("locksim merge part-*.jsonl")
}

// Each example makes the report of one machine, byte for byte, although one of its parts is
// killed and started again.
func TestExamplesMakeTheReportOfOneMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds locksim and runs four searches")
	}
	locksim := filepath.Join(t.TempDir(), "locksim")
	build := exec.Command("go", "build", "-o", locksim, "./cmd/locksim")
	build.Dir, build.Env = "../..", append(os.Environ(), "GOWORK=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	one := newSearcher(t, locksim)
	want := one.run("locksim explore --lock redlock --max-faults 3 --worlds 1000")

	t.Run("GNU parallel", func(t *testing.T) {
		if _, err := exec.LookPath("parallel"); err != nil {
			t.Skip("GNU parallel is not installed")
		}
		s := newSearcher(t, locksim)
		block := regexp.MustCompile("(?m)^(parallel .*)\n(locksim merge .*)\n").FindSubmatch(read(t, "README.md"))
		if block == nil {
			t.Fatal("README.md shows no parallel with a merge after it")
		}
		// A second parallel with --resume-failed would start a part again with the same flags,
		// and a search does not write over a ledger, so no part is killed here.
		s.run(string(block[1]) + " || true")
		if got := s.run(string(block[2])); got != want {
			t.Errorf("the report is\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("Slurm", func(t *testing.T) {
		s := newSearcher(t, locksim)
		script := string(read(t, "slurm-array.sh"))
		array := regexp.MustCompile(`(?m)^#SBATCH --array=1-(\d+)$`).FindStringSubmatch(script)
		if array == nil {
			t.Fatal("the script has no array that begins with 1")
		}
		s.runParts(script, array[1], func(part int) []string {
			return []string{fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", part), "SLURM_ARRAY_TASK_COUNT=" + array[1], "SLURM_CPUS_PER_TASK=2"}
		})
		if got := s.merged(); got != want {
			t.Errorf("the report is\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("Kubernetes", func(t *testing.T) {
		s := newSearcher(t, locksim)
		var job batchv1.Job
		if err := yaml.UnmarshalStrict(read(t, "kubernetes-job.yaml"), &job); err != nil {
			t.Fatal(err)
		}
		c := job.Spec.Template.Spec.Containers[0]
		script := strings.ReplaceAll(strings.Join(c.Args, " "), c.VolumeMounts[0].MountPath+"/", "")
		s.runParts(script, fmt.Sprint(*job.Spec.Completions), func(part int) []string {
			return []string{fmt.Sprintf("JOB_COMPLETION_INDEX=%d", part-1)}
		})
		if got := s.merged(); got != want {
			t.Errorf("the report is\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("GitHub Actions", func(t *testing.T) {
		s := newSearcher(t, locksim)
		flow := readWorkflow(t)
		for _, part := range flow.Jobs["part"].Strategy.Matrix.Part {
			s.run(strings.ReplaceAll(flow.command(t, "part", "locksim explore "), "${{ matrix.part }}", fmt.Sprint(part)))
		}
		if got := s.merged(); got != want {
			t.Errorf("the report is\n%s\nwant\n%s", got, want)
		}
		// README.md says how to make known.json. With it the job finds nothing new.
		s.run("locksim merge part-*.jsonl --format json -o known.json")
		if out, err := s.command(flow.command(t, "report", "locksim merge ")).CombinedOutput(); err != nil {
			t.Errorf("the job report fails although known.json has everything: %v\n%s", err, out)
		}
	})
}

// runParts runs all parts of an example. It kills one of them in the middle and runs it
// again.
func (s *searcher) runParts(script, count string, env func(part int) []string) {
	s.t.Helper()
	const killed = 2
	s.killAtLine(3, fmt.Sprintf("part-%d.jsonl", killed), script, env(killed)...)
	for part := 1; fmt.Sprint(part-1) != count; part++ {
		s.run(script, env(part)...)
	}
}

// killable gives a command a process group of its own, for kill.
func killable(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill kills a command with everything that it has started.
func kill(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
