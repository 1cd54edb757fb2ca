//go:build !unix && !windows

package command

import (
	"errors"
	"os"
)

// ledgerMode is the mode in which a ledger, the file with all results of a search, is
// opened for writing.
const ledgerMode = os.O_RDWR | os.O_APPEND

// claim always fails, because this system cannot lock files.
func claim(*os.File, bool) error { return errors.New("this system cannot lock files") }
