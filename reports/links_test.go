package reports

import (
	"slices"
	"testing"
)

func TestAddressesAreLinks(t *testing.T) {
	for _, test := range []struct {
		text string
		want []stretch // the parts of the text, and whether each is a link
	}{
		{"", nil},
		{"my own life", []stretch{{"my own life", false}}},
		{"https://a.example/b.html", []stretch{{"https://a.example/b.html", true}}},
		{
			"A (2016, https://a.example/b.html), and http://b.example/101.",
			[]stretch{{"A (2016, ", false}, {"https://a.example/b.html", true}, {"), and ", false}, {"http://b.example/101", true}, {".", false}},
		},
		{"javascript://a.example and https://", []stretch{{"javascript://a.example and https://", false}}},
		{"https://a.example\u202emoc", []stretch{{`https://a.example\u202emoc`, true}}},
	} {
		if got := splitLinks(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%q is split into %v, want %v", test.text, got, test.want)
		}
	}
}
