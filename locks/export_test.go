package locks

import "io"

// CloseLater registers something to be closed by Close.
func (e *Env) CloseLater(c io.Closer) { e.closeLater(c) }

// RegisterTokenSource adds a source of tokens.
func RegisterTokenSource(s TokenSource) { registerTokenSource(s) }
