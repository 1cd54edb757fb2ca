package browser_test

import (
	_ "github.com/locksim/locksim/internal/testkit/floor"
	_ "github.com/locksim/locksim/libraries" // links all libraries, which the catalogue needs
)
