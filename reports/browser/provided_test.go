package browser_test

import (
	_ "github.com/locksim/locksim/internal/testkit/floor"
	_ "github.com/locksim/locksim/libraries" // for the whole catalogue
)
