package reports

import "fmt"

// maxObjects bounds the objects of a JSON document that is read, and what else is in its
// lists. In memory an empty one can take hundreds of times the room that it has in the
// document, and so can a null in a list of objects. Saved traces have one or two for an
// event: a document of them that is as large as [MaxSaved] has less than a million.
const maxObjects = 1_000_000

// countObjects refuses a JSON document of more objects than most, before any is made.
// What is in a list counts as one, whatever it is.
func countObjects(data []byte, most int) error {
	var lists []bool // of what is open: whether it is a list
	objects, inText, first := 0, false, false
	for i := 0; i < len(data) && objects <= most; i++ {
		c := data[i]
		switch {
		case inText && c == '\\':
			i++ // what it escapes
			continue
		case inText:
			inText = c != '"'
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		}
		in := len(lists) > 0 && lists[len(lists)-1]
		if c == '{' || in && first && c != ']' {
			objects++
		}
		first = false
		switch c {
		case '"':
			inText = true
		case '{', '[':
			lists = append(lists, c == '[')
			first = true
		case '}', ']':
			if len(lists) > 0 {
				lists = lists[:len(lists)-1]
			}
		case ',':
			first = true
		}
	}
	if objects > most {
		return fmt.Errorf("it holds more than %d objects, and no more can be read", most)
	}
	return nil
}
