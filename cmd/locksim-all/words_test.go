package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// A falseFriend is a phrase that readers misunderstand, and what to write instead.
type falseFriend struct {
	phrase *regexp.Regexp
	advice string
}

// newFalseFriend returns a false friend for a phrase, which is a regular expression for whole
// words.
func newFalseFriend(phrase, advice string) falseFriend {
	return falseFriend{regexp.MustCompile(`(?i)\b(?:` + phrase + `)\b`), advice}
}

var falseFriends = []falseFriend{
	newFalseFriend(`for nothing`, `"in vain", or "for free"`),
	newFalseFriend(`somebody else's`, `"another client's", "another library's" …`),
	newFalseFriend(`whoever|whosoever`, `who it is: the client, the holder, the reader`),
	newFalseFriend(`what (?:comes|came|becomes|became) of`, `"the result of"`),
	newFalseFriend(`to be had`, `"available"`),
	newFalseFriend(`goes on|go on|went on`, `"continues"`),
	newFalseFriend(`(?:is|are|was|were) over`, `"has ended"`),
	newFalseFriend(`all the same`, `"nevertheless", or "equal"`),
	newFalseFriend(`(?:has|have|had|holds?) (?:it|them|the lock) no more`, `"no longer holds"`),
	newFalseFriend(`tells? (?:\w+ )?apart|told apart`, `"distinguishes"`),
	newFalseFriend(`(?:is|are|was|were) told of`, `"is notified of", or "learns of"`),
	newFalseFriend(`(?:cannot|can|could) be told`, `what is meant: run, known, described …`),
	newFalseFriend(`as (?:it|one) has it`, `"as it is in"`),
	newFalseFriend(`let in`, `"granted the lock"`),
	newFalseFriend(`come to the same`, `"are equal"`),
	newFalseFriend(`stands? for`, `"represents", or "is"`),
}

// mostWords is the greatest number of words in a sentence.
const mostWords = 40

// A passage is a paragraph of prose, with the file and line at which it begins.
type passage struct {
	file string
	line int
	text string
}

// TestPlainWords checks the documents, the prose of the scenarios and the comments of the
// code: they have no phrase that misleads readers, and no sentence that is too long.
func TestPlainWords(t *testing.T) {
	passages := 0
	for p := range prose(t) {
		passages++
		for _, f := range falseFriends {
			if found := f.phrase.FindString(p.text); found != "" {
				t.Errorf("%s:%d: %q misleads readers; write %s", p.file, p.line, found, f.advice)
			}
		}
		for _, s := range sentences(p.text) {
			if n := len(strings.Fields(s)); n > mostWords {
				t.Errorf("%s:%d: a sentence has %d words, and %d is the most: %.80s…", p.file, p.line, n, mostWords, s)
			}
		}
	}
	if passages < 10_000 {
		t.Errorf("only %d passages were found, want at least 10,000", passages)
	}
}

// The checks of TestPlainWords find examples of what they have to find.
func TestPlainWordsAreChecked(t *testing.T) {
	long := strings.Repeat("word ", mostWords)
	for text, want := range map[string]int{
		long + "end. Short.":       mostWords + 1,
		long[:20] + ". " + long:    mostWords,
		"e.g. `a. B` is one. Two.": 4,
	} {
		most := 0
		for _, s := range sentences(text) {
			most = max(most, len(strings.Fields(s)))
		}
		if most != want {
			t.Errorf("the longest sentence of %q has %d words, want %d", text, most, want)
		}
	}
	for _, text := range []string{"tokens for nothing", "who has it no more? Whoever asks", "the lease is over"} {
		found := false
		for _, f := range falseFriends {
			found = found || f.phrase.MatchString(text)
		}
		if !found {
			t.Errorf("no false friend is found in %q", text)
		}
	}
}

// prose calls yield with each passage of the repository.
func prose(t *testing.T) func(yield func(passage) bool) {
	return func(yield func(passage) bool) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
			if d.IsDir() {
				if d.Name() == "testdata" || path != root && strings.HasPrefix(d.Name(), ".") {
					return fs.SkipDir
				}
				return nil
			}
			var read func(name string, text []byte) ([]passage, error)
			switch filepath.Ext(path) {
			case ".md":
				read = markdownPassages
			case ".go":
				read = commentPassages
			case ".yaml":
				if !strings.HasPrefix(name, "scenarios/") {
					return nil
				}
				read = scenarioPassages
			default:
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			passages, err := read(name, text)
			for _, p := range passages {
				if !yield(p) {
					return fs.SkipAll
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

var (
	inCode    = regexp.MustCompile("`[^`\n]*(?:\n[^`\n]*)?`")
	quotation = regexp.MustCompile(`"[^"]{1,300}"`)
	link      = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	listItem  = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)
	// sentenceEnd is where a sentence ends and another begins.
	sentenceEnd = regexp.MustCompile("[.!?:;][)\"*_]*\\s+|\\s[—–]\\s")
)

// sentences splits a paragraph. Code in it counts as one word.
func sentences(text string) []string {
	text = inCode.ReplaceAllString(text, "code")
	text = strings.NewReplacer("e.g. ", "e.g ", "i.e. ", "i.e ", "etc. ", "etc ").Replace(text)
	return sentenceEnd.Split(text, -1)
}

// markdownPassages reads the paragraphs of a document. It leaves out code, tables and generated
// blocks, because these are not prose or the words are not ours.
func markdownPassages(name string, text []byte) (passages []passage, err error) {
	var p passage
	flush := func() {
		if p.text = strings.TrimSpace(p.text); p.text != "" {
			p.text = inCode.ReplaceAllString(quotation.ReplaceAllString(link.ReplaceAllString(p.text, "$1"), `"…"`), "code")
			passages = append(passages, p)
		}
		p = passage{}
	}
	code, generated := false, false
	for i, l := range strings.Split(string(text), "\n") {
		trimmed := strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			flush()
			code = !code
		case strings.HasPrefix(trimmed, "<!--"):
			flush()
			generated = !strings.HasPrefix(trimmed, "<!-- end")
		case code || generated:
		case trimmed == "" || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ">"):
			flush()
		default:
			if listItem.MatchString(l) {
				flush()
			}
			if p.text == "" {
				p = passage{file: name, line: i + 1}
			}
			p.text += trimmed + "\n"
		}
	}
	flush()
	return passages, nil
}

// commentPassages reads the paragraphs of the comments of a Go file.
func commentPassages(name string, text []byte) (passages []passage, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, g := range file.Comments {
		p := passage{file: name}
		flush := func() {
			if p.text != "" {
				p.text = quotation.ReplaceAllString(inCode.ReplaceAllString(p.text, "code"), `"…"`)
				passages = append(passages, p)
			}
			p = passage{file: name}
		}
		for _, c := range g.List {
			l, ours := strings.CutPrefix(c.Text, "// ")
			if !ours || l == "" || l[0] == ' ' || l[0] == '\t' || strings.HasPrefix(l, "- ") {
				flush() // a directive, code or a list
				continue
			}
			if p.text == "" {
				p.line = files.Position(c.Pos()).Line
			}
			p.text += l + "\n"
		}
		flush()
	}
	return passages, nil
}

// scenarioPassages reads the prose of a scenario and its variants.
func scenarioPassages(name string, text []byte) (passages []passage, err error) {
	var file yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var fields func(n *yaml.Node)
	fields = func(n *yaml.Node) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch key, value := n.Content[i].Value, n.Content[i+1]; key {
			case "title", "story", "question", "why", "prevention", "lesson", "kleppmann", "sanfilippo", "redis":
				if value.Kind == yaml.ScalarNode {
					for paragraph := range strings.SplitSeq(value.Value, "\n\n") {
						passages = append(passages, passage{name, value.Line, quotation.ReplaceAllString(paragraph, `"…"`)})
					}
				}
			case "says":
				fields(value)
			case "variants":
				for j := 1; j < len(value.Content); j += 2 {
					fields(value.Content[j])
				}
			}
		}
	}
	for _, document := range file.Content {
		fields(document)
	}
	return passages, nil
}
