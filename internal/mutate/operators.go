package mutate

// An Operator makes one kind of mistake in a file, at each place where the mistake is
// possible.
type Operator struct {
	// Name is one or a few words, such as "swap-order".
	Name string
	// Breaks says in a few words what a lock with the mistake does wrong.
	Breaks string
	// inGo returns changes to a Go file. Each makes the mistake at one place.
	inGo func(*file) []change
	// inScript does the same for a script in Lua, which begins at offset in its file. It is nil if
	// a script cannot have the mistake.
	inScript func(text string, offset int) []change
}

// Operators returns all operators.
func Operators() []Operator {
	return []Operator{
		{"drop-comparison", "changes or removes a key without comparing whose it is, or sets it although it exists", dropComparison, comparisonsInScript},
		{"swap-order", "sends two requests in the wrong order", swapOrder, nil},
		{"ignore-answer", "does not look at an error or a refusal", ignoreAnswer, nil},
		{"skip-elapsed-check", "accepts an answer that comes after the end of the lease", skipElapsedCheck, nil},
		{"count-lease-from-answer", "counts the lease from the answer, and not from the request", countLeaseFromAnswer, nil},
		{"callers-context", "runs a clean-up under the caller's context, which may have ended", callersContext, nil},
		{"no-clean-up", "leaves its key behind after a failed attempt", noCleanUp, nil},
		{"one-value", "sets the same value for all clients", oneValue, nil},
		{"smaller-quorum", "accepts half of the nodes as a majority", smallerQuorum, nil},
		{"no-expiry", "sets a key that never expires", noExpiry, expiriesInScript},
		{"ttl-unit", "sends the TTL in the wrong unit, or rounded down", ttlUnit, unitsInScript},
	}
}

// changes returns changes to a file. Each makes the operator's mistake at one place.
func (o Operator) changes(f *file) []change {
	switch {
	case f.tree != nil:
		return o.inGo(f)
	case o.inScript != nil:
		return o.inScript(string(f.text), 0)
	}
	return nil
}
