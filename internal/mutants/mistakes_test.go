package mutants_test

// mistakes has what the report must say that the mutants do wrong: for each line of a report,
// the mutants that it describes. The report on any other mutant only says which rule is
// broken, because that describes the mistake well enough.
var mistakes = map[string][]string{
	"acquire fails and leaves its key behind":                                                      {"quorum/no-cleanup", "single/cleanup-under-callers-context", "single/no-cleanup"},
	"acquire grants the lock although too few servers have its key":                                {"quorum/half-is-enough", "quorum/acquire-counts-errors"},
	"acquire grants the lock although the server did not":                                          {"single/timeout-is-yes", "single/error-is-yes"},
	"acquire keeps its grants under a key that the test does not know":                             {"single/key-with-prefix"},
	"acquire keeps the grants of one lock under a different key for each client":                   {"single/key-of-client"},
	"extend asks for another key than the one that acquire has set":                                {"single/extends-other-key"},
	"release asks for another key than the one that acquire has set":                               {"single/releases-other-key"},
	"acquire leaves a key that never expires":                                                      {"single/set-then-expire"},
	"acquire mistakes another acquisition's key for its own, because both have the same value":     {"quorum/one-value-for-all", "quorum/value-reused", "single/value-of-process"},
	"acquire promises a lease that ends later than its key":                                        {"quorum/drift-added", "quorum/lease-from-the-end", "single/lease-from-second-try"},
	"acquire removes the key of another acquisition, because it compares nothing":                  {"quorum/release-without-compare", "single/takes-what-expires"},
	"acquire returns a lease that has already ended":                                               {"quorum/no-elapsed-check"},
	"acquire sets a key that expires long before the lease ends":                                   {"quorum/ttl-in-seconds"},
	"acquire sets a key that lives much longer than the lease":                                     {"single/ttl-in-microseconds"},
	"extend extends the key of another acquisition, because it compares nothing":                   {"quorum/extend-without-compare"},
	"extend promises a lease that ends later than its key":                                         {"quorum/extend-counts-errors", "quorum/extend-on-one-node", "quorum/same-node-twice"},
	"extend reads the key and then sends a second command, and the key has changed in between":     {"single/get-then-expire"},
	"extend reports success for a lease that has ended, after another client was granted the lock": {"quorum/extend-sets"},
	"release fails at one server, and leaves its key on others that it does not ask":               {"quorum/remove-stops-at-error"},
	"release reports success and leaves its key behind":                                            {"quorum/release-where-granted"},
	"release reads the key and then sends a second command, and the key has changed in between":    {"single/get-then-del"},
	"release removes the key of another acquisition, because it compares nothing":                  {"single/second-release-deletes"},
	"the lock notifies the holder of the loss too late or never":                                   {"renewing/renews-too-seldom"},
	"the lock promises a lease that ends later than its key":                                       {"renewing/end-from-old-end", "renewing/end-from-answer", "renewing/whole-seconds", "renewing/renews-whole-seconds"},
	"the lock renews the key after its release was called":                                         {"renewing/renews-released"},
	"the lock sets a key that lives much longer than the lease":                                    {"renewing/renews-thousandfold"},
	"the lock waits too long for a server that does not answer, although the others are enough":    {"quorum/no-node-timeout", "quorum/waits-beyond-ttl", "quorum/waits-half-ttl"},
}
