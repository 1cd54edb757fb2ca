package reports

import "bytes"

// pageMark is in a comment near the beginning of each page of a folder that is not HTML. A
// later report may replace a file with this mark. HTML pages have a meta element instead.
const pageMark = "generator: locksim"

// markReach is the number of bytes at the beginning of a page that contain its mark.
const markReach = 1024

// IsPage reports whether a file is a page of a report that locksim has written into a
// folder. The first kilobyte of the file is enough.
func IsPage(file []byte) bool {
	head := file[:min(len(file), markReach)]
	return bytes.Contains(head, []byte(pageMark)) || bytes.Contains(head, []byte(`<meta name="generator" content="locksim">`))
}
