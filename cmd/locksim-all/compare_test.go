package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The answer of a comparison, with the table of the locks that fit, is one screen of 100 columns
// and 50 lines. No lock is left out of it.
func TestCompareBeginsWithOneScreen(t *testing.T) {
	if testing.Short() {
		t.Skip("this test compares all locks")
	}
	t.Setenv("COLUMNS", "100")
	screen, tables, ok := strings.Cut(runOutput(t, "compare"), "\nHow to read the tables\n")
	if !ok {
		t.Fatalf("the comparison has no part %q:\n%s", "How to read the tables", screen)
	}
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	if len(lines) > 50 {
		t.Errorf("the answer has %d lines, want at most 50:\n%s", len(lines), screen)
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("this line of the answer has %d columns, want at most 100: %s", n, line)
		}
	}
	answer, which, _ := strings.Cut(screen, "\nWhich lock\n")
	_, summary, _ := strings.Cut(tables, "\nSummary\n")
	for _, lock := range []string{"redlock", "single", "etcd", "zookeeper", "consul", "postgres-lease", "sqlite-lease", "kubernetes", "postgres-advisory", "goose-table"} {
		for part, text := range map[string]string{"the answer": answer, "the summary": summary} {
			if !strings.Contains(text, "\n  "+lock+" ") {
				t.Errorf("%s has no row for %s", part, lock)
			}
		}
		if !strings.Contains(which, lock) {
			t.Errorf("the locks that fit a need, and the others, lack %s", lock)
		}
	}
}
