package exercises

// A Stage is one of the seven stages of the lock: a property, and what the reader needs to
// reach it.
type Stage struct {
	Number int
	// Name is a short name, and Property states what a lock of this stage does.
	Name, Property string
	// Method is the method that a lease needs from this stage on, with its declaration and
	// its type as reflection writes it; zero if it needs none.
	Method Method
	// Hint says in which direction to look.
	Hint string
}

// A Method is a method of a lease.
type Method struct{ Name, Declaration, Type string }

// Stages returns the seven stages in order.
func Stages() []Stage {
	return []Stage{
		{
			Number: 1, Name: "naive",
			Property: "While nothing fails, one client at a time holds the lock, and the next one gets it after the release. If the holder crashes, the lock is free again one TTL after the acquire.",
			Hint:     "let one command of Redis do three things: look whether the key exists, set it, and give it an expiry. See SET with NX and PX, which go-redis has as SetNX",
		},
		{
			Number: 2, Name: "unique value",
			Property: "A release removes only the key of its own acquire, however late it arrives.",
			Hint:     "let each acquire set a value that no other acquire has ever set, such as crypto/rand.Text(), and let the release look at the value before it removes the key",
		},
		{
			Number: 3, Name: "script",
			Property: "Between the comparison and the removal there is no moment in which the key can change hands.",
			Hint:     "two commands are two moments, and anything can happen between them. Redis runs a Lua script as one step: see redis.NewScript",
		},
		{
			Number: 4, Name: "elapsed check",
			Property: "Acquire never returns a lease that has already ended, no lease ends later than its key, and an acquire that fails removes what it has set.",
			Hint:     "the key's time begins at some moment between the request and the answer, and the client cannot know which. Read the clock before the request, count from there, and read the clock again after the answer. A call that fails cleans up with a context of its own: the caller's may have ended",
		},
		{
			Number: 5, Name: "renewal",
			Method:   Method{"Extend", "func (l *Lease) Extend(ctx context.Context) error", "func(context.Context) error"},
			Property: "A holder that works longer than one TTL keeps the lock by calling Extend. Extend fails if the lease has ended or if the key is no longer its own, and then it changes nothing.",
			Hint:     "extend only what is still yours, in one step (PEXPIRE in a script), and treat the time of the call as Acquire does. After a success, Expires returns the new end",
		},
		{
			Number: 6, Name: "quorum",
			Property: "On five nodes, any two may be down, hang, forget their keys or be out of reach: one client at a time holds the lock, clients still get it, and stages 1 to 5 still hold.",
			Hint:     "set the key on every node, and hold the lock if a majority has granted it in time. Bound the wait for each node, or ask all at once. Release on all nodes, also on those that did not answer, and remove what a failed attempt has set",
		},
		{
			Number: 7, Name: "fencing",
			Method:   Method{"Token", "func (l *Lease) Token() uint64", "func() uint64"},
			Property: "Each lease has a token that is greater than the tokens of all earlier leases, so the storage can refuse a late write. Stages 1 to 6 still hold.",
			Hint:     "let each node count its grants, and take the highest count of the majority as the token. Then the next majority may have counted less: write the token back to a majority, while the key is still yours, before Acquire returns",
		},
	}
}
