package scenarios

import (
	"regexp"
	"strings"
	"testing"
)

// hypothetical matches phrases that announce a conclusion which the author did not write.
var hypothetical = regexp.MustCompile(`(?i)\b(would|by (his|its) (own )?argument|takes? (it )?for granted)\b`)

// webPages maps the titles of texts on the Web to their addresses.
var webPages = map[string]string{
	`"How to do distributed locking"`: "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html",
	`"Is Redlock safe?"`:              "http://antirez.com/news/101",
	`"Distributed Locks with Redis"`:  "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/",
}

// No opinion contains a conclusion that its author did not write. No opinion of the
// documentation is attributed to a person. A source on the Web is named with its address.
func TestOpinionsAreTheAuthorsOwn(t *testing.T) {
	documentation := 0
	for _, s := range Embedded() {
		for _, v := range s.Variants {
			for _, voice := range v.Opinions() {
				if said := hypothetical.FindString(voice.Text); said != "" {
					t.Errorf("%s: %s says something that the author did not write: %q in %s", s.File, voice.Author, said, voice.Text)
				}
			}
			if v.Redis != "" {
				documentation++
			}
			for _, person := range []string{v.Kleppmann, v.Sanfilippo} {
				if strings.Contains(person, "pecification") || strings.Contains(person, "ocumentation") {
					t.Errorf("%s: an opinion of the documentation is attributed to a person: %s", s.File, person)
				}
			}
		}
		for title, address := range webPages {
			if strings.Contains(s.Source, title) && !strings.Contains(s.Source, address) {
				t.Errorf("%s: the source %s is not a link to %s", s.File, title, address)
			}
		}
	}
	if documentation == 0 {
		t.Error("no scenario has an opinion of the documentation")
	}
}

func TestUnknownAuthorIsRefused(t *testing.T) {
	const file = `
title: t
says: {antirez: Look at the clock.}
lock: {kind: single, ttl: 10s}
clients: {client-1: {}}
`
	if _, err := Parse("f.yaml", []byte(file)); err == nil || !strings.Contains(err.Error(), "antirez") {
		t.Errorf("an unknown author gives the error %v, want one that names the author", err)
	}
}
