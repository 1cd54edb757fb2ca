package locks

import "strconv"

// The locks of goose, which keep two processes from migrating one database at a time, for any use:
// they take a connection to PostgreSQL and a number.
func init() {
	const library = "github.com/pressly/goose/v3/lock, unmodified: "
	Register(Kind{
		Name: "goose-table", System: Postgres, Adapter: adapters + "goose", Library: "github.com/pressly/goose/v3",
		Title: library + "NewPostgresTableLocker, a lease row that a heartbeat prolongs",
		Features: []string{
			"lasting-context", // the heartbeat's context outlasts the attempt; else it ends with it
			"one-try",         // a retry policy says that nothing is tried again; else by the library's own defaults
			"own-handle",      // a locker for each attempt; else one for all
		},
		Slots: func(key string, _ int) ([]Slot, int) { return []Slot{{Node: 0, Key: gooseRow(key)}}, 1 },
	})
	Register(Kind{
		Name: "goose-session", System: Postgres, Adapter: adapters + "goose", Library: "github.com/pressly/goose/v3", Endless: true,
		Title: library + "NewPostgresSessionLocker, pg_try_advisory_lock each 5 seconds, for as long as the connection lasts",
		Features: []string{
			"discard",    // a connection whose unlock has failed is closed; else the pool has it again, with the lock
			"own-handle", // as above
		},
		Slots: func(key string, _ int) ([]Slot, int) {
			return []Slot{{Node: 0, Key: "advisory/" + strconv.FormatInt(PostgresNumber(key), 10)}}, 1
		},
	})
}

// gooseRow is the row that a lock is kept in.
func gooseRow(key string) string {
	return "goose_lock/" + strconv.FormatInt(PostgresNumber(key), 10)
}
