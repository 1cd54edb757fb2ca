package glossary

import (
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"lease", "the time for which a grant is valid: from the return of acquire to the end that the lock declares, when it expires. If the lock declares no end, the lease lasts until the release, or until the holder learns that it is lost. TTL: how long a lease lasts"},
		{"TTL", "how long a lease lasts"},
		{"kind of lock", "the algorithm or library that provides the lock"},
		{"acquisition", "An acquisition is one call of acquire, with its result."},
		{"Node", "a simulated server that keeps locks. System: the kind of server, such as redis or etcd"},
		{"Critical-Section", "the work of a client under the lock: from the return of acquire until the client releases the lock, crashes or abandons its work"},
		{"lock-memory", "assumption: the lock's servers forget nothing, such as a key before its end or a counter of tokens"},
		{"effect", "what a fault does to its target, one of a closed set (trace/effect.go)"},
	} {
		if got, ok := Lookup(c.word); !ok || got != c.want {
			t.Errorf("%s means %q, %v, want %q", c.word, got, ok, c.want)
		}
	}
	if got, ok := Lookup("no such word"); ok {
		t.Errorf("an unknown word means %q", got)
	}
}

// Every word of the glossary has a meaning without markup.
func TestWords(t *testing.T) {
	words := Words()
	if len(words) < 100 {
		t.Errorf("the glossary has %d words, want at least 100", len(words))
	}
	for _, word := range words {
		if meaning, _ := Lookup(word); meaning == "" || strings.ContainsAny(meaning, "*`[]") {
			t.Errorf("%s means %q", word, meaning)
		}
	}
}
