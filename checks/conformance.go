package checks

// CannotBeMade is violated by a lock that could not be constructed. conformance is violated
// by a lock that broke a rule that a client's program checks. The trace has both as
// complaints of clients; see [trace.Complaint].
const (
	CannotBeMade Property = "cannot be made"
	conformance  Property = "conformance"
)

var canBeMade = misconduct(Card{
	Property: CannotBeMade, Gravity: 16,
	Title:  "the lock can be constructed",
	Broken: "the lock cannot be constructed",
	Label:  "cannot be made", Meaning: "the lock could not be constructed",
}, findNothing)

var conforms = misconduct(Card{
	Property: conformance, Gravity: 17,
	Title:  "the lock does what a client's program asks of it",
	Broken: "the lock does not do what a client's program asks of it",
	Label:  "conformance", Meaning: "the lock does not do what a client's program asks of it",
}, findNothing)
