// Package check checks the files that spread a search over several machines. It is a module
// of its own, so locksim does not depend on Kubernetes.
package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// read reads a file of the folder spread.
func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestKubernetesJob(t *testing.T) {
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(read(t, "kubernetes-job.yaml"), &job); err != nil {
		t.Fatal(err)
	}
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Name == "" {
		t.Errorf("the file is a %s of %s named %q, want a Job of batch/v1 with a name", job.Kind, job.APIVersion, job.Name)
	}
	spec := job.Spec
	if spec.CompletionMode == nil || *spec.CompletionMode != batchv1.IndexedCompletion || spec.Completions == nil {
		t.Fatal("the job is not an Indexed Job with a number of completions")
	}
	pod := spec.Template.Spec
	// The API server accepts backoffLimitPerIndex only with this policy.
	if pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("restartPolicy is %q, and backoffLimitPerIndex needs Never", pod.RestartPolicy)
	}
	if len(pod.Containers) != 1 {
		t.Fatalf("the pod has %d containers, want 1", len(pod.Containers))
	}
	c := pod.Containers[0]
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("the container mounts %q, which is not a volume of the pod", m.Name)
		}
	}

	// Run the container's command, with a locksim that only prints its arguments, and with
	// the volume at another path.
	dir := t.TempDir()
	bin := filepath.Join(dir, "locksim")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\necho \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(strings.Join(c.Args, " "), c.VolumeMounts[0].MountPath, dir)
	run := func(index int32) string {
		cmd := exec.Command(c.Command[0], append(slices.Clone(c.Command[1:]), script)...)
		cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index)}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("pod %d: %v: %s", index, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	parts := *spec.Completions
	for index := range parts {
		ledger := fmt.Sprintf("%s/part-%d.jsonl", dir, index+1)
		want := fmt.Sprintf(" --shard %d/%d --ledger %s", index+1, parts, ledger)
		if got := run(index); !strings.HasPrefix(got, "explore --lock redlock ") || !strings.HasSuffix(got, want) {
			t.Errorf("pod %d runs locksim %q, want a search of redlock that ends in %q", index, got, want)
		}
	}
	if err := os.WriteFile(dir+"/part-1.jsonl", []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := run(0); !strings.HasSuffix(got, " --shard 1/16 --resume "+dir+"/part-1.jsonl") {
		t.Errorf("a pod that finds a ledger runs locksim %q, want that it resumes the ledger", got)
	}
}

func TestGitHubMatrix(t *testing.T) {
	flow := readWorkflow(t)
	part, report := flow.Jobs["part"], flow.Jobs["report"]
	if len(flow.Jobs) != 2 || report.Needs != "part" || part.RunsOn == "" || report.RunsOn == "" {
		t.Fatalf("the workflow has the jobs %v, want the job part, and the job report, which needs part", flow.Jobs)
	}
	commands := func(job string) string {
		var all []string
		for _, s := range flow.Jobs[job].Steps {
			all = append(all, s.Run)
		}
		return strings.Join(all, "\n")
	}
	shard := regexp.MustCompile(`(?m)^locksim explore .* --shard \$\{\{ matrix\.part \}\}/(\d+) --ledger part-\$\{\{ matrix\.part \}\}\.jsonl$`).FindStringSubmatch(commands("part"))
	if shard == nil {
		t.Fatalf("the job part runs no part of a search:\n%s", commands("part"))
	}
	parts := part.Strategy.Matrix.Part
	if fmt.Sprint(len(parts)) != shard[1] {
		t.Errorf("the matrix has %d parts, but the search is split into %s", len(parts), shard[1])
	}
	for i, p := range parts {
		if p != i+1 {
			t.Errorf("entry %d of the matrix is part %d, want the parts in order", i+1, p)
		}
	}
	if !strings.Contains(commands("report"), "\nlocksim merge part-*.jsonl ") {
		t.Errorf("the job report merges nothing:\n%s", commands("report"))
	}
}

// A workflow is what the tests read of a workflow of GitHub Actions.
type workflow struct {
	Name string         `json:"name"`
	On   map[string]any `json:"true"` // YAML 1.1 reads the key on as true
	Env  map[string]string
	Jobs map[string]struct {
		RunsOn   string `json:"runs-on"`
		Needs    string
		Strategy struct {
			FailFast bool `json:"fail-fast"`
			Matrix   struct{ Part []int }
		}
		Steps []struct {
			Uses string
			Run  string
			If   string
			With map[string]any
		}
	}
}

// readWorkflow reads the example.
func readWorkflow(t *testing.T) *workflow {
	t.Helper()
	var flow workflow
	if err := yaml.UnmarshalStrict(read(t, "github-matrix.yml"), &flow); err != nil {
		t.Fatal(err)
	}
	return &flow
}

// command returns the command of a job that begins with the given text.
func (w *workflow) command(t *testing.T, job, begins string) string {
	t.Helper()
	for _, s := range w.Jobs[job].Steps {
		if strings.HasPrefix(s.Run, begins) {
			return s.Run
		}
	}
	t.Fatalf("the job %s runs no command that begins with %q", job, begins)
	return ""
}

// The actions that a workflow uses belong to others, who can move a tag. So each action is
// named by its commit.
func TestActionsArePinned(t *testing.T) {
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(\S+)`)
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	for _, name := range []string{"github-matrix.yml", "../.github/workflows/ci.yml"} {
		all := uses.FindAllSubmatch(read(t, name), -1)
		if len(all) == 0 {
			t.Errorf("no action was found in %s", name)
		}
		for _, m := range all {
			if !pinned.Match(m[1]) {
				t.Errorf("%s uses the action %s; name its commit, in 40 digits", name, m[1])
			}
		}
	}
}
