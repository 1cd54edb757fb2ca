//go:build !js

package libraries

// The locks on SQLite are a module of their own, so that a test of one lock needs no other
// lock library. modernc.org/sqlite does not compile for js.
import _ "github.com/locksim/locksim/libraries/sqlite"
