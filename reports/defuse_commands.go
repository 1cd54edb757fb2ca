package reports

import "strings"

// defuseCommand changes a line that GitHub or Azure would treat as a command: one that
// begins with two colons, after spaces or not, or contains brackets after two hashes.
func defuseCommand(line string) string {
	if strings.Contains(line, "##") {
		line = hashed.Replace(line)
	}
	if strings.HasPrefix(strings.TrimSpace(line), "::") {
		line = "| " + line
	}
	return line
}

var hashed = strings.NewReplacer("##[", "## [", "##vso[", "## vso[")

// DefuseCommands changes a text for people so that no CI system finds a command in it,
// whatever text from files or locks it contains.
func DefuseCommands(text string) string {
	if !strings.Contains(text, "::") && !strings.Contains(text, "##") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(defuseCommand(line))
	}
	return b.String()
}
