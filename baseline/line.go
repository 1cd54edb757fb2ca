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

// A line is one result of a commit: about a run of a scenario, a way to break a lock, or a mutant
// (a lock with a deliberate mistake), for example. It is one line of the file: the name of the
// line's part, the key and the facts, separated by tabs.
type line struct {
	// key identifies the line within its part. It begins with the command that reproduces the
	// result.
	key string
	// facts are the values that are compared, the most important first.
	facts []fact
}

// A fact is a named value: text, or the digest of something larger.
type fact struct{ name, value string }

// fact returns the value of the fact called name; "" if there is none.
func (l line) fact(name string) string {
	for _, f := range l.facts {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// String returns the line as it is in the file, without its part.
func (l line) String() string {
	text := oneLine.Replace(l.key)
	for _, f := range l.facts {
		text += "\t" + f.name + "=" + oneLine.Replace(f.value)
	}
	return text
}

// oneLine escapes characters that would end a field or a line of the file.
var oneLine = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`)

// replacePart replaces the lines of a part in a file, and creates the file if necessary.
// changed is how many of the new lines were not in the file before.
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

// digest returns a short hash of a value. It is the same for values that are equal as JSON, in
// whatever order the members of their objects are. It panics if a value cannot be expressed in
// JSON, which is a bug of this program.
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
