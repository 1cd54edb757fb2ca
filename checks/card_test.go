package checks

import (
	"slices"
	"testing"
)

// Every card is complete, because reports need all of its fields. No two cards contradict
// each other.
func TestCards(t *testing.T) {
	byGravity := map[int]Property{}
	for _, p := range properties {
		c := p.Card
		if c.Title == "" || c.Broken == "" || c.Label == "" || c.Meaning == "" {
			t.Errorf("the card of %s has an empty line: %+v", c.Property, c)
		}
		if !slices.Contains([]Subject{SubjectExclusion, SubjectData, SubjectConduct, SubjectMisconduct}, c.Subject) {
			t.Errorf("%s is about %q", c.Property, c.Subject)
		}
		if (c.Column != "") != (c.Subject == SubjectExclusion) {
			t.Errorf("%s is about %s, and the heading of its column is %q", c.Property, c.Subject, c.Column)
		}
		if (len(c.Letter) == 1) != (c.Subject == SubjectConduct) {
			t.Errorf("%s is about %s, and its letter is %q", c.Property, c.Subject, c.Letter)
		}
		if other, taken := byGravity[c.Gravity]; taken || c.Gravity < 1 || c.Gravity > len(properties) {
			t.Errorf("the gravity of %s is %d, and that of %q is the same", c.Property, c.Gravity, other)
		}
		byGravity[c.Gravity] = c.Property
		for _, o := range properties {
			if o.Property != c.Property && o.Letter != "" && o.Letter == c.Letter {
				t.Errorf("%s and %s have the letter %q", c.Property, o.Property, c.Letter)
			}
			if o.Label == c.Label && o.Meaning != c.Meaning {
				t.Errorf("%q means %q and %q", c.Label, c.Meaning, o.Meaning)
			}
		}
	}
	if c := Property("nonsense").Card(); c.Title != "" || c.Gravity != len(properties)+1 {
		t.Errorf("the card of a property that is not known is %+v", c)
	}
}
