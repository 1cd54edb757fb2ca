package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A line is one result of a commit: a run of a scenario, a way to break a lock, a mutant.
// In the file a line begins with its part. Tabs separate the part, the key and the facts.
type line struct {
	// key is unique within a part. It is a command that shows what the line is about.
	key string
	// facts are the values to compare, the most important first.
	facts []fact
}

// A fact is a value as text, or the digest of a larger value.
type fact struct{ name, value string }

func (l line) fact(name string) string {
	for _, f := range l.facts {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

func (l line) String() string {
	text := oneLine.Replace(l.key)
	for _, f := range l.facts {
		text += "\t" + f.name + "=" + oneLine.Replace(f.value)
	}
	return text
}

var oneLine = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`)

// replacePart replaces the lines of a part in a file, which need not exist. It returns how
// many of the new lines the file did not contain before.
func replacePart(file, part string, lines []line) (changed int, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	var all []string
	before := map[string]bool{}
	for old := range strings.Lines(string(text)) {
		if before[old] = true; !strings.HasPrefix(old, part+"\t") {
			all = append(all, old)
		}
	}
	for _, l := range lines {
		text := fmt.Sprintf("%s\t%v\n", part, l)
		if all = append(all, text); !before[text] {
			changed++
		}
	}
	slices.Sort(all)
	return changed, os.WriteFile(file, []byte(strings.Join(all, "")), 0o644)
}

// digest returns a short text that is equal for equal JSON, whatever the order of members.
// A value that JSON cannot express is a bug in this program.
func digest(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("baseline: %v", err))
	}
	var plain any
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&plain); err != nil {
		panic(fmt.Sprintf("baseline: %v", err))
	}
	if text, err = json.Marshal(plain); err != nil { // Marshal sorts the members of a map
		panic(fmt.Sprintf("baseline: %v", err))
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:8]
}

// formatList returns a list as text.
func formatList(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ",")
}
