package reports

import "fmt"

// maxObjects is the maximum number of objects and list elements in a JSON document that
// locksim reads. It limits the memory that a document takes: an empty object, or a null in
// a list of objects, can take hundreds of times its own size. Saved traces have one or two
// objects for each event, so a document of the size [MaxSaved] has less than a million.
const maxObjects = 1_000_000

// countObjects returns an error if a JSON document has more than limit objects. It reads
// the document without creating them. Each element of a list counts as an object.
func countObjects(data []byte, limit int) error {
	var lists []bool // for each object or list that is open: whether it is a list
	objects, inText, beginsElement := 0, false, false
	for i := 0; i < len(data) && objects <= limit; i++ {
		c := data[i]
		switch {
		case inText && c == '\\':
			i++ // skip the escaped character
			continue
		case inText:
			inText = c != '"'
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		}
		inList := len(lists) > 0 && lists[len(lists)-1]
		if c == '{' || inList && beginsElement && c != ']' {
			objects++
		}
		beginsElement = false
		switch c {
		case '"':
			inText = true
		case '{', '[':
			lists = append(lists, c == '[')
			beginsElement = true
		case '}', ']':
			if len(lists) > 0 {
				lists = lists[:len(lists)-1]
			}
		case ',':
			beginsElement = true
		}
	}
	if objects > limit {
		return fmt.Errorf("it contains more than %d objects, which is the limit", limit)
	}
	return nil
}
