package reports_test

import (
	_ "github.com/locksim/locksim/internal/testkit/simtest"
)
