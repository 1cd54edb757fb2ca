package reports

import (
	"testing"

	"github.com/locksim/locksim/internal/webpage"
)

func TestAddressesAreLinks(t *testing.T) {
	link := func(address string) string { return `<a href="` + address + `">` + address + "</a>" }
	for text, want := range map[string]string{
		"":                         "",
		"my own life":              "my own life",
		"https://a.example/b.html": link("https://a.example/b.html"),
		"A (2016, https://a.example/b.html), and http://b.example/101.": "A (2016, " + link("https://a.example/b.html") + "), and " + link("http://b.example/101") + ".",
		"javascript://a.example and https://":                           "javascript://a.example and https://",
		"https://a.example\u202emoc":                                    link(`https://a.example\u202emoc`),
	} {
		if got := webpage.Render(linkAddresses(text)); got != want {
			t.Errorf("%q becomes %s, want %s", text, got, want)
		}
	}
}
