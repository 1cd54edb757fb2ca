package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDescribe checks what the command says of each kind of difference.
func TestDescribe(t *testing.T) {
	const known = `{"tests": [{"test": "TestA", "mistakes": [
		{"mistake": "overwrites", "step": "acquire", "title": "acquire overwrites a key", "rules": ["lease-exclusion"]}]}]}`
	for _, test := range []struct{ name, found, want string }{
		{"the same", known, "- no change\n"},
		{"a mistake less", `{"tests": [{"test": "TestA", "mistakes": []}]}`, "- TestA: no longer found: acquire overwrites a key\n"},
		{"another call makes it", strings.Replace(known, `"step": "acquire"`, `"step": "extend"`, 1),
			"- TestA: no longer found: acquire overwrites a key\n- TestA: new: acquire overwrites a key\n"},
		{"it violates more", strings.Replace(known, `["lease-exclusion"]`, `["progress", "lease-exclusion"]`, 1),
			"- TestA: acquire overwrites a key: violates [lease-exclusion progress], before [lease-exclusion]\n"},
		{"a test less", strings.Replace(known, "TestA", "TestB", 1), "- TestA: did not run\n- TestB: new: acquire overwrites a key\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said strings.Builder
			differ := describe(&said, parse(t, known), parse(t, test.found))
			if said.String() != test.want || differ != (test.name != "the same") {
				t.Errorf("describe says (%v)\n%s\nwant\n%s", differ, said.String(), test.want)
			}
		})
	}
}

// parse writes a report to a file and reads it.
func parse(t *testing.T, text string) report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := readReport(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReportsWithoutTests checks that a file that says nothing is refused.
func TestReportsWithoutTests(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(name, []byte(`{"tests": []}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readReport(name); err == nil || !strings.Contains(err.Error(), "no tests") {
		t.Errorf("readReport returns %v, want an error about missing tests", err)
	}
}
