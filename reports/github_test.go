package reports

import "testing"

// A command is one line, and no text in it can end the command or one of its properties
// early.
func TestGitHubCodes(t *testing.T) {
	const text = "50%: a, b::c\r\nnext %0A"
	if got, want := githubData(text), "50%25: a, b::c%0D%0Anext %250A"; got != want {
		t.Errorf("a message is written as %q, want %q", got, want)
	}
	if got, want := githubProperty(text), "50%25%3A a%2C b%3A%3Ac%0D%0Anext %250A"; got != want {
		t.Errorf("a property is written as %q, want %q", got, want)
	}
}
