package locks

// The most obvious release: the client deletes the key when it is done. That is one
// command. It needs no script and no value to remember. It works in every test, because in
// a test no client is late. A late holder deletes the key of the next holder.
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
