package command

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/locksim/locksim/locks"
)

// The package command requires no lock library except go-redis, so a user's own program
// does not require one either.
func TestCommandHasNoLockLibrary(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]bool{}
	for module := range strings.FieldsSeq(string(out)) {
		modules[module] = true
	}
	if !modules["github.com/redis/go-redis/v9"] {
		t.Errorf("package command requires only the modules %v, which do not contain go-redis", modules)
	}
	for _, name := range locks.Names() {
		if library := libraryOf(name); library != goRedis && modules[library] {
			t.Errorf("package command requires the module %s, the library of the lock %s", library, name)
		}
	}
}
