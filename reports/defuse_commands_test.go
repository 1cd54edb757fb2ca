package reports

import "testing"

// DefuseCommands changes the lines that a CI system would read as commands, and no others.
func TestDefuseCommands(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"all is well: it holds\n":    "all is well: it holds\n",
		"::error::x\n":               "| ::error::x\n",
		"a\n  ::error::x\nb ::c\n":   "a\n|   ::error::x\nb ::c\n",
		"##vso[task.complete]x":      "## vso[task.complete]x",
		"it says ##[error]x\n# ##\n": "it says ## [error]x\n# ##\n",
	} {
		if got := DefuseCommands(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
