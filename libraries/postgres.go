package libraries

// The locks on PostgreSQL are a module of their own, so that a test of one lock needs no
// other lock library.
import _ "github.com/locksim/locksim/libraries/postgres"
