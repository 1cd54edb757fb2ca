package scenarios

// ExpectationLine is the line of the scenario's file, counted from 1, that says what
// a run must come to: with fencing [Off] or [On], with a lock as [Variant.Expectation]
// names it. In a file with variants that may be a line of the variant or one that all
// of them share. Where nothing is said of the run, it is the line of what comes
// nearest above, which is at worst the first. It is 0 for a variant that was read from
// no file.
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
		at := index(n, name)
		if at < 0 {
			break
		}
		line, n = n.Content[at].Line, n.Content[at+1]
	}
	return line
}
