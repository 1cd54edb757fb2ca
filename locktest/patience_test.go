package locktest

import (
	"os"
	"time"
)

// Misbehaviour is the variable that tells TestMisbehaving what to do.
const Misbehaviour = "LOCKTEST_MISBEHAVIOUR"

// Of a lock that is meant to compute for ever nobody has to wait to be sure.
func init() {
	if os.Getenv(Misbehaviour) == "computes-for-ever" {
		patience = 2 * time.Second
	}
}
