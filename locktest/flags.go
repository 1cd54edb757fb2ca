package locktest

import "flag"

// flagValue is what a flag of the test's binary is set to.
func flagValue(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}
