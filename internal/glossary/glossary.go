// Package glossary looks up the words of docs/glossary.md, for readers who meet them in a
// report or ask for them by name.
package glossary

import (
	"slices"
	"strings"
	"sync"

	"github.com/locksim/locksim/docs"
	"github.com/locksim/locksim/internal/lazy"
)

// entries has the meaning of each word. It is read when somebody asks for the first word.
var entries = sync.OnceValue(func() map[string]string {
	text, err := docs.Files.ReadFile("glossary.md")
	if err != nil {
		panic(err) // impossible: the file is embedded
	}
	return parse(string(text))
})

// Lookup returns the meaning of a word, as a phrase or as sentences without markup; ok is
// false if the glossary does not have the word. Upper and lower case are the same, and so are
// a hyphen and a space.
func Lookup(word string) (meaning string, ok bool) {
	word = strings.ToLower(word)
	if meaning, ok = entries()[word]; !ok {
		meaning, ok = entries()[strings.ReplaceAll(word, "-", " ")]
	}
	return meaning, ok
}

// Words returns all words, in the order of the alphabet.
func Words() []string {
	var all []string
	for word := range entries() {
		all = append(all, word)
	}
	slices.Sort(all)
	return all
}

var (
	boldPattern     = lazy.Regexp(`\*\*([^*]+)\*\*`)
	italicPattern   = lazy.Regexp(`^\*([^* ]+ [^*]+)\*$`) // of several words: others, such as clock, are common words
	linkPattern     = lazy.Regexp(`\[([^\]]+)\]\([^)]+\)`)
	sentencePattern = lazy.Regexp(`[^.;]+(?:\.[^ ][^.;]*)*[.;]?`)
)

// parse reads the rows of the tables of a glossary in Markdown. The second cell of a row is the
// meaning of the words in the first cell. The second cell can also explain other words, in bold:
// the meaning of such a word is the sentence that contains it, or only the rest of the sentence if
// a colon follows the word.
func parse(markdown string) map[string]string {
	meanings := map[string]string{}
	for line := range strings.Lines(markdown) {
		words, meaning, isRow := splitRow(line)
		if !isRow {
			continue
		}
		add := func(in, meaning string) {
			for _, word := range boldPattern().FindAllStringSubmatch(in, -1) {
				if key := strings.ToLower(word[1]); meanings[key] == "" {
					meanings[key] = plain(meaning)
				}
			}
		}
		add(italicPattern().ReplaceAllString(strings.TrimSpace(words), "**$1**"), meaning)
		for _, sentence := range sentencePattern().FindAllString(meaning, -1) {
			_, afterWord, isDefinition := strings.Cut(sentence, "**: ")
			if !isDefinition {
				afterWord = sentence
			}
			add(sentence, afterWord)
		}
	}
	return meanings
}

// splitRow splits a row of a table into the cell with the words and the cell with their
// meaning.
func splitRow(line string) (words, meaning string, ok bool) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
	if !strings.HasPrefix(line, "| *") || len(cells) != 2 {
		return "", "", false
	}
	return cells[0], cells[1], true
}

// plain removes the markup from a text.
func plain(text string) string {
	text = linkPattern().ReplaceAllString(text, "$1")
	return strings.Trim(strings.NewReplacer("**", "", "`", "", "*", "").Replace(text), " ;|")
}
