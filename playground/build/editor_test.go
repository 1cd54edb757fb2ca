package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/locksim/locksim/scenarios"
)

// The editor completes fields and values from the schema of scenario files. Its own tests are
// in JavaScript.
func TestCompletion(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	schema := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(schema, []byte(scenarios.Schema()), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(node, "--test", "complete.test.js")
	c.Dir = filepath.Join("..", "editor")
	c.Env = append(os.Environ(), "LOCKSIM_SCHEMA="+schema)
	if said, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
