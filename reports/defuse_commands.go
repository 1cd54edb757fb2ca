package reports

import "strings"

// defuseCommand changes a line that GitHub Actions or Azure Pipelines would execute as a
// workflow command. Such a line begins with two colons after optional blanks, or contains
// "##[" or "##vso[".
func defuseCommand(line string) string {
	if strings.Contains(line, "##") {
		line = commandMarks.Replace(line)
	}
	if strings.HasPrefix(strings.TrimSpace(line), "::") {
		line = "| " + line
	}
	return line
}

// commandMarks replaces the beginnings of commands in the middle of a line.
var commandMarks = strings.NewReplacer("##[", "## [", "##vso[", "## vso[")

// DefuseCommands changes a text for people so that CI systems find no commands in it. This
// prevents a scenario file or a lock from giving commands by what it prints.
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
