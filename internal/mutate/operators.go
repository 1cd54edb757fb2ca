package mutate

// An Operator makes one kind of mistake wherever a file has a place for it.
type Operator struct {
	// Name is one or a few words, such as "swap-order".
	Name string
	// Breaks says in a few words what a lock with the mistake does wrong.
	Breaks string
	// find returns the changes that make the mistake, each at one place.
	find func(*file) []change
}

// Operators returns all operators.
func Operators() []Operator {
	return []Operator{
		{"drop-comparison", "changes or removes a key without comparing whose it is, or sets it although it exists", dropComparison},
		{"swap-order", "sends two requests in the wrong order", swapOrder},
		{"ignore-answer", "does not look at an error or a refusal", ignoreAnswer},
		{"skip-elapsed-check", "accepts an answer that comes after the end of the lease", skipElapsedCheck},
		{"count-lease-from-answer", "counts the lease from the answer, and not from the request", countLeaseFromAnswer},
		{"callers-context", "runs a clean-up under the caller's context, which may have ended", callersContext},
		{"no-clean-up", "leaves its key behind after a failed attempt", noCleanUp},
		{"one-value", "sets the same value for all clients", oneValue},
		{"smaller-quorum", "accepts half of the nodes as a majority", smallerQuorum},
		{"no-expiry", "sets a key that never expires", noExpiry},
		{"ttl-unit", "sends the TTL in the wrong unit, or rounded down", ttlUnit},
	}
}
