//go:build !js

package libraries

// The locks on SQLite are a module of their own, so that a test of one lock need not
// download the other lock libraries. They are left out for js, where modernc.org/sqlite
// does not compile.
import _ "github.com/locksim/locksim/libraries/sqlite"
