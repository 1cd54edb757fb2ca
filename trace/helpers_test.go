package trace

import "testing"

// checkEqual fails the test unless got is want; what names the value.
func checkEqual[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// mustParsePoint parses a point, and panics if it cannot be parsed.
func mustParsePoint(text string) Point {
	p, err := ParsePoint(text)
	if err != nil {
		panic(err)
	}
	return p
}
