// Package whatif answers what a scenario comes to if one of its values is another.
package whatif
