//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// require skips a test if a program is not installed, unless the environment says that it
// must be.
func require(t *testing.T, isInstalled bool, program, variable string) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("it takes seconds of real time")
	case isInstalled:
	case os.Getenv(variable) != "":
		t.Fatalf("%s is set, and there is no %s", variable, program)
	default:
		t.Skipf("there is no %s", program)
	}
}

// has reports whether a program is in the PATH.
func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// verdictsOf plays a scenario and returns the verdict of each run.
func verdictsOf(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("locksim", append([]string{"reality", "--format", "json"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run() // its status is 1 if a verdict is not as expected
	var report struct {
		Results []struct {
			Runs []struct{ Fencing, Verdict string }
		}
	}
	if jsonErr := json.Unmarshal(stdout.Bytes(), &report); jsonErr != nil || len(report.Results) != 1 {
		t.Fatalf("locksim ended with %v, and its report is %.500q\n%s", err, stdout.Bytes(), stderr.Bytes())
	}
	verdicts := ""
	for _, run := range report.Results[0].Runs {
		verdicts += fmt.Sprintf("%s %s, ", run.Fencing, run.Verdict)
	}
	return verdicts
}

// A pause outlasts a lease in a real PostgreSQL, as it does in the simulated one.
func TestRealityOfPostgres(t *testing.T) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	require(t, len(found) > 0 || has("initdb"), "PostgreSQL", "LOCKSIM_REQUIRE_POSTGRES")
	got := verdictsOf(t, "same-gc-pause", "--lock", "postgres-lease", "--set", "lock.nodes=1", "--ttl", "1s")
	if want := "off unsafe, on safe, "; got != want {
		t.Errorf("the verdicts are %q, want %q", got, want)
	}
}

// The answer to an acquire is later than the end of the lease. The example in Python refuses
// the grant, and so does redlock of npm. Two other packages let two clients in.
func TestRealityInOtherLanguages(t *testing.T) {
	require(t, has("redis-server"), "redis-server", "LOCKSIM_REQUIRE_REDIS")
	const folder = "../../libraries/other-languages/"
	play := func(t *testing.T, command, want string) {
		got := verdictsOf(t, folder+"late-answer.yaml", "--ttl", "1s", "--fencing", "off", "--client", command)
		if got != want {
			t.Errorf("the verdict is %q, want %q", got, want)
		}
	}
	t.Run("example.py", func(t *testing.T) {
		require(t, has("python3"), "python3", "LOCKSIM_REQUIRE_PYTHON")
		play(t, "python3 "+folder+"example.py", "off safe, ")
	})
	for program, want := range map[string]string{
		"redlock.js":           "off safe, ",
		"redis-semaphore.js":   "off unsafe, ",
		"redlock-universal.js": "off unsafe, ",
	} {
		t.Run(program, func(t *testing.T) {
			// LOCKSIM_NPM is a folder node_modules with the packages.
			modules := os.Getenv("LOCKSIM_NPM")
			require(t, has("node") && modules != "", "folder of npm packages", "LOCKSIM_NPM")
			t.Setenv("NODE_PATH", modules)
			play(t, "node "+folder+program, want)
		})
	}
}
