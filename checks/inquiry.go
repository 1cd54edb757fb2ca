package checks

import "github.com/locksim/locksim/history"

// An inquiry is a history that is being judged.
type inquiry struct{ *history.History }
