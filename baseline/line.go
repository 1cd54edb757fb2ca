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

// A line is one thing that a commit comes to: a run of a scenario, a way to break a lock, a
// mutant. The line of the file has its part before it, and tabs between part, key and facts.
type line struct {
	// key tells the lines of a part apart. It is a command that shows what the line is about.
	key string
	// facts are what there is to compare, the gravest first.
	facts []fact
}

// A fact is a value in clear, or the digest of a larger one.
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

// replacePart replaces the lines of a part in a file, which need not exist, and returns how
// many of the lines the file did not have before.
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

// digest is short and the same for equal JSON, whatever the order of members. A value
// that JSON cannot hold is a mistake in this program.
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
	if text, err = json.Marshal(plain); err != nil { // the members of a map are sorted
		panic(fmt.Sprintf("baseline: %v", err))
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:8]
}

// listed is a list in clear.
func listed(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ",")
}
