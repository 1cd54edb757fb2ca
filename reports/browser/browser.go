// Package browser tries the pages of the reports in a browser. It is a module of its own, so that nothing that
// locksim is used for requires the means.
package browser
