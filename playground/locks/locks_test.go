package locks_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The engine imports no package that makes it much larger: a template looks for methods by
// names that the linker cannot know, so the linker would keep every method of every type, and
// net/http brings all of its protocols.
func TestEngineStaysSmall(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "../engine")
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	for _, heavy := range []string{"html/template", "text/template", "net/http"} {
		if slices.Contains(all, heavy) {
			t.Errorf("the engine imports %s", heavy)
		}
	}
	if !slices.Contains(all, "github.com/locksim/locksim/internal/playground") {
		t.Error("the list of the engine's packages lacks its own")
	}
}
