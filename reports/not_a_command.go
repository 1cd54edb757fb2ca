package reports

import "strings"

// notACommand takes apart what GitHub and Azure would take for a command to them: a line
// that begins with two colons, after spaces or not, and what stands in brackets after
// two hashes.
func notACommand(line string) string {
	if strings.Contains(line, "##") {
		line = hashed.Replace(line)
	}
	if strings.HasPrefix(strings.TrimSpace(line), "::") {
		line = "| " + line
	}
	return line
}

var hashed = strings.NewReplacer("##[", "## [", "##vso[", "## vso[")

// NoCommands is a text for people in whose lines, whatever a file or a lock has said, no
// continuous integration finds a command.
func NoCommands(text string) string {
	if !strings.Contains(text, "::") && !strings.Contains(text, "##") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(notACommand(line))
	}
	return b.String()
}
