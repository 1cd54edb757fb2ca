package browser_test

import (
	_ "github.com/locksim/locksim/internal/testkit/simtest"
	_ "github.com/locksim/locksim/libraries" // links all libraries, which the catalogue needs
)
