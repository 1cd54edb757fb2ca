package reports

import "bytes"

// pageMark marks files that locksim has written into a folder of reports. It is in a
// comment near the beginning of each file that is not HTML. A later report may overwrite
// files with this mark. HTML pages have a meta element instead.
const pageMark = "generator: locksim"

// markReach is how many bytes at the beginning of a file are searched for the mark.
const markReach = 1024

// IsPage reports whether locksim has written a file as a page of a report, so that it may
// be overwritten. The first kilobyte of the file is enough.
func IsPage(file []byte) bool {
	head := file[:min(len(file), markReach)]
	return bytes.Contains(head, []byte(pageMark)) || bytes.Contains(head, []byte(`<meta name="generator" content="locksim">`))
}
