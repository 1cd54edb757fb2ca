//go:build !unix && !windows

package command

import (
	"errors"
	"os"
)

// ledgerMode is how a ledger is opened to be written.
const ledgerMode = os.O_RDWR | os.O_APPEND

// claim cannot claim a file here.
func claim(*os.File, bool) error { return errors.New("this system has no locks on files") }
