package scenarios

// ExpectationLine returns the line of the scenario's file that has the expectation of a
// run; lines are counted from 1. lock and fencing select the run, as for
// [Variant.Expectation]. In a file with variants the line can belong to the variant or to
// all variants. If the file expects nothing of the run, it is the line of the nearest field
// above, such as expect, or 1 if there is none. It is 0 for a variant that was not read
// from a file.
func (v *Variant) ExpectationLine(lock, fencing string) int {
	if v.root == nil {
		return 0
	}
	path := []string{"expect", fencing}
	if lock != "" && lock != v.Lock {
		path = []string{"expect-with", lock, fencing}
	}
	line, n := 1, v.root
	for _, name := range path {
		at := indexOf(n, name)
		if at < 0 {
			break
		}
		line, n = n.Content[at].Line, n.Content[at+1]
	}
	return line
}
