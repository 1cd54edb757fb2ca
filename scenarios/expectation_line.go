package scenarios

// ExpectationLine returns the line of the scenario's file, counted from 1, with the
// expectation of a run: with fencing [Off] or [On], and with a lock as for
// [Variant.Expectation]. In a file with variants it can be a line of the variant or one
// that all variants share. If the file expects nothing of the run, it is the line of the
// nearest field above, or 1 if there is none. It is 0 for a variant that was not read from
// a file.
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
