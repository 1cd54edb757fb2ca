package reports

import "fmt"

// maxObjects bounds the objects of a JSON document that is read. In memory an empty one
// can take hundreds of times the room that it has in the document. Saved traces have one
// or two for an event: a document of them that is as large as [MaxSaved] has less than a
// million.
const maxObjects = 1_000_000

// countObjects refuses a JSON document of more objects than most, before any is made.
func countObjects(data []byte, most int) error {
	objects, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inText = !inText
		case inText && c == '\\':
			i++ // what it escapes
		case !inText && c == '{':
			objects++
		}
	}
	if objects > most {
		return fmt.Errorf("it holds %d objects, and at most %d can be read", objects, most)
	}
	return nil
}
