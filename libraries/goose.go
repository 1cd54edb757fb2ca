package libraries

// The locks of goose are a module of their own, so that whoever tests one needs no other lock
// library.
import _ "github.com/locksim/locksim/libraries/goose"
