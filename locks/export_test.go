package locks

import "io"

// CloseLater registers something to be closed by Close.
func (e *Env) CloseLater(c io.Closer) { e.closeLater(c) }
