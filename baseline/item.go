package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// An item is one thing that a commit comes to: a run of a scenario, a way to break a
// lock, a mutant.
type item struct {
	part string
	// key tells the items of a part apart. It is what a command needs to come to this
	// item again; behind " # " it says what of that it is.
	key string
	// facts are what there is to compare, the gravest first.
	facts []fact
	// record is everything of which the facts tell a part in clear and digest the rest.
	// It is missing from an item that was read from a file.
	record json.RawMessage
}

// A fact is a value in clear, or the digest of a larger one.
type fact struct{ name, value string }

func (i item) fact(name string) string {
	for _, f := range i.facts {
		if f.name == name {
			return f.value
		}
	}
	return ""
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
	return fmt.Sprintf("%x", sha256.Sum256(text))[:digestSize]
}

// digestSize is how long a digest is: two values that differ have the same one in four
// thousand million.
const digestSize = 8

// listed is a list in clear.
func listed(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ",")
}

var harmless = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// shellLine writes words as a shell takes them.
func shellLine(words []string) string {
	line := make([]string, len(words))
	for i, w := range words {
		if line[i] = w; !harmless.MatchString(w) {
			line[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(line, " ")
}
