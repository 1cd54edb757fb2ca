// Package rundiff compares two runs step by step. The runs may be of different scenarios, or
// of one scenario with another lock, seed or value.
package rundiff
