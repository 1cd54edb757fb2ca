package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lock in the module cache is copied, and the go command uses the copy in place of the module.
// The test runs in a workspace, whose other modules stay where they are.
func TestFindInModuleCache(t *testing.T) {
	t.Chdir("../../../libraries/testdata/redis")
	s, err := Find(t.Context(), ".", "github.com/bsm/redislock", []string{"release.lua"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	name := s.Place(s.Sources[0].Name)
	for what, is := range map[string]bool{
		"the folder of the lock":   dirOf(t, s, "github.com/bsm/redislock") == s.copied,
		"the folder of the tests":  dirOf(t, s, s.Package) == absolute(t, "."),
		"the folder of locktest":   dirOf(t, s, "github.com/locksim/locksim/locktest") == absolute(t, "../../../locktest"),
		"the name of the tests":    s.Package == "github.com/locksim/locksim/libraries/testdata/redis",
		"the number of files":      len(s.Sources) == 1,
		"the place of the file":    strings.HasPrefix(name, "github.com/bsm/redislock@v") && strings.HasSuffix(name, "/release.lua"),
		"the contents of the file": strings.Contains(string(s.Sources[0].Text), "ARGV[1]"),
	} {
		if !is {
			t.Errorf("%s is wrong: %+v", what, s)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.temp); !os.IsNotExist(err) {
		t.Errorf("after Close, %s is still there (%v)", s.temp, err)
	}
}

// dirOf returns the folder of a package as the go command of a Subject sees it.
func dirOf(t *testing.T, s *Subject, name string) string {
	t.Helper()
	out, err := s.run(t.Context(), append([]string{"list", "-f={{.Dir}}"}, append(s.modFlags, name)...)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	name, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return name
}
