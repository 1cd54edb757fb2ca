package reports

import (
	"io"
	"testing"
)

// Every format has a title, which lists of formats show.
func TestFormatsSayWhatTheyAreFor(t *testing.T) {
	checkTitles(t, "runs", Runs)
	checkTitles(t, "explanations", Explanations)
	checkTitles(t, "matrices", Matrices)
	checkTitles(t, "searches", Searches)
	checkTitles(t, "tallies", Tallies)
	checkTitles(t, "sweeps", Sweeps)
	checkTitles(t, "answers to why", Whys)
	checkTitles(t, "comparisons of two runs", Diffs)
}

func checkTitles[S any](t *testing.T, subject string, s *Subject[S]) {
	t.Helper()
	if len(s.Formats()) == 0 {
		t.Errorf("there are no formats of %s", subject)
	}
	for _, f := range s.Formats() {
		if f.Name == "" || f.Title == "" || f.Write == nil {
			t.Errorf("a format of %s has no name, no title or no writer: %+v", subject, f)
		}
	}
}

func TestFormatsAreFoundByName(t *testing.T) {
	var s Subject[int]
	write := func(io.Writer, int, Options) error { return nil }
	for _, name := range []string{"b", "c", "a"} {
		s.Register(Format[int]{Name: name, Title: "for " + name, Write: write})
	}
	var names string
	for _, f := range s.Formats() {
		names += f.Name
	}
	if names != "abc" {
		t.Errorf("the formats are listed as %s, want abc", names)
	}
	if f, ok := s.Lookup("c"); !ok || f.Title != "for c" {
		t.Errorf("the format c is found as %+v", f)
	}
	if _, ok := s.Lookup("d"); ok {
		t.Error("Lookup finds the format d, which was not registered")
	}
	defer func() {
		if recover() == nil {
			t.Error("Register accepts a second format with the name b, want a panic")
		}
	}()
	s.Register(Format[int]{Name: "b"})
}
