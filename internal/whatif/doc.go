// Package whatif runs a scenario with other values at one of its paths, and finds the
// values at which the outcome changes.
package whatif
