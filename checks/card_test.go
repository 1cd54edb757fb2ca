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
			t.Errorf("%s has the unknown subject %q", c.Property, c.Subject)
		}
		if (c.Column != "") != (c.Subject == SubjectExclusion) {
			t.Errorf("%s has the subject %s and the column heading %q, want a heading only for exclusion", c.Property, c.Subject, c.Column)
		}
		if (len(c.Letter) == 1) != (c.Subject == SubjectConduct) {
			t.Errorf("%s has the subject %s and the letter %q, want a letter only for conduct", c.Property, c.Subject, c.Letter)
		}
		if other, taken := byGravity[c.Gravity]; taken || c.Gravity < 1 || c.Gravity > len(properties) {
			t.Errorf("the gravity of %s is %d, want a number from 1 to %d that no other property has; %q has it", c.Property, c.Gravity, len(properties), other)
		}
		byGravity[c.Gravity] = c.Property
		for _, o := range properties {
			if o.Property != c.Property && o.Letter != "" && o.Letter == c.Letter {
				t.Errorf("%s and %s both have the letter %q", c.Property, o.Property, c.Letter)
			}
			if o.Label == c.Label && o.Meaning != c.Meaning {
				t.Errorf("the label %q has the two meanings %q and %q", c.Label, c.Meaning, o.Meaning)
			}
		}
	}
	if c := Property("nonsense").Card(); c.Title != "" || c.Gravity != len(properties)+1 {
		t.Errorf("the card of an unknown property is %+v, want no title and the last gravity", c)
	}
}
