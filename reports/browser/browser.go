// Package browser tests the pages of the reports in a browser. It is a separate module, so
// that the programs that these tests need are not dependencies of locksim.
package browser
