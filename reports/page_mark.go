package reports

import "bytes"

// pageMark stands near the beginning of each page of a folder that is not HTML, in a
// comment: a later report may take the place of such a file. A page in HTML has a meta
// element for it.
const pageMark = "generator: locksim"

// markReach is within how many bytes a page has its mark.
const markReach = 1024

// IsPage reports whether a file is a page of a report as locksim writes them into a
// folder. It need not be given more than the first kilobyte of the file.
func IsPage(file []byte) bool {
	head := file[:min(len(file), markReach)]
	return bytes.Contains(head, []byte(pageMark)) || bytes.Contains(head, []byte(`<meta name="generator" content="locksim">`))
}
