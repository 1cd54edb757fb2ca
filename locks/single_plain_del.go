package locks

// The release that comes to mind first: whoever is done deletes the key. It is
// one command, it needs no script and no value to remember, and it works in every
// test, because in a test nobody is late. A holder that is late deletes the key of
// the one who came after it.
func init() {
	Register(Kind{
		Name:     "single-plain-del",
		System:   Redis,
		Title:    "as single, but released by a plain DEL, whoever holds the key by then",
		OwnClock: true,
		Accepts:  []string{"clock", "node-timeout"},
		Features: []string{"elapsed-check", "fresh-value", "extend"},
		Slots:    onFirstNode,
		New: variant(func(l *single) Lock {
			l.unchecked = true
			return l
		}),
	})
}
