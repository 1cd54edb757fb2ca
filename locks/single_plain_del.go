package locks

// This variant has the most obvious release: the client deletes the key when its work is
// done. That is one command. It needs no script, and no value to remember. It passes every
// test in which all holders finish before their keys expire. A holder that finishes later
// deletes the key of the next holder.
func init() {
	Register(Kind{
		Name:     "single-plain-del",
		System:   Redis,
		Title:    "as single, but released by a plain DEL, even if another client holds the key by then",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New: newVariant(func(l *single) Lock {
			l.unchecked = true
			return l
		}),
	})
}
