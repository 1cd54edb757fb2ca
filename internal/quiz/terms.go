package quiz

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checks"
	"github.com/locksim/locksim/internal/glossary"
)

// mostTerms is the greatest number of words that are explained at one time.
const mostTerms = 8

// ownTerms has words that the glossary lacks, or has only in another sense than a question. A word
// whose meaning is "" here is not explained at all, such as hold, which in the glossary is a fault.
var ownTerms = map[string]string{
	"hold": "", "holds": "", "partition": "the network passes no message between some processes",
	"crash": "a process ends without doing anything else", "restart": "", "delay": "", "drop": "",
	"progress":      "a property: after the last fault, some client that wanted the lock finishes a section",
	"violated":      "a property is violated if the run breaks it",
	"unsafe":        "the data has come to harm",
	"safe":          "the data has come to no harm",
	"notified":      "the lock's library has told the client, for example by a channel or an error",
	"notification":  "a message by which a server tells a client that something has changed",
	"notifications": "messages by which servers tell clients that something has changed",
}

// termsOf returns the words of a question that need an explanation, with their meanings.
func termsOf(q *Question) [][2]string {
	text := q.Text
	for _, c := range q.Choices {
		text += " " + c.Text
	}
	var rows [][2]string
	add := func(word string) {
		meaning := meaningOf(word)
		isKnown := slices.ContainsFunc(rows, func(row [2]string) bool { return row[0] == word || row[1] == meaning })
		if meaning != "" && !isKnown && len(rows) < mostTerms {
			rows = append(rows, [2]string{word, meaning})
		}
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' && r != '-' || r > 'z' })
	for i, word := range words {
		if i+1 < len(words) { // terms of two words, such as fencing token, are more precise
			add(strings.TrimSuffix(word+" "+words[i+1], "s"))
		}
		add(word)
	}
	return rows
}

// meaningOf returns what a word means in a question; "" if there is nothing to explain.
func meaningOf(word string) string {
	if meaning, ok := ownTerms[word]; ok {
		return meaning
	}
	if title := checks.Property(word).Card().Title; title != "" {
		return "a property: " + title
	}
	meaning, _ := glossary.Lookup(word)
	return meaning
}
