// Package history reads what a trace says, once, for everybody.
package history
