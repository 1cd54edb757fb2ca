package reports

import "testing"

// The objects of a document are counted before it is decoded. Text in a string does not
// count.
func TestCountObjects(t *testing.T) {
	for doc, objects := range map[string]int{
		``: 0, `[]`: 0, `{}`: 1, `{"a": [{}, {"b": {}}]}`: 4,
		`{"{": "{{"}`: 1, `["\"{", {}]`: 2, `["\\", {}]`: 2, `{"a": "unfinished {`: 1, `"\`: 0,
		`[null, 1, "a", [], true]`: 5, `[ ]`: 0, `[[[]]]`: 2, `{"a": null, "b": [null,null]}`: 3, `{"a": {"b": [{"c": [1, 2]}]}}`: 5,
	} {
		if err := countObjects([]byte(doc), objects); err != nil {
			t.Errorf("with a limit of %d objects %s is refused: %v", objects, doc, err)
		}
		err := countObjects([]byte(doc), objects-1)
		if err == nil {
			t.Errorf("%s is accepted with a limit of %d objects, want an error", doc, objects-1)
		}
	}
}
