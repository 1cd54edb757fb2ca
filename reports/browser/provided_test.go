package browser_test

import (
	_ "github.com/locksim/locksim/internal/simtest"
	_ "github.com/locksim/locksim/libraries" // so that the whole catalogue is there
)
