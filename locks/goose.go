package locks

import "strconv"

// The locks of goose, a tool for database migrations, prevent two processes from migrating
// one database at the same time. They take a connection to PostgreSQL and a number, so they
// can protect anything else too.
func init() {
	const library = "github.com/pressly/goose/v3/lock, unmodified: "
	Register(Kind{
		Name: "goose-table", System: Postgres, Adapter: adapters + "goose", Library: "github.com/pressly/goose/v3", Renews: true, CannotExtend: true,
		Title: library + "NewPostgresTableLocker, a lease row that a heartbeat renews",
		Features: []string{
			"lasting-context", // the heartbeat's context outlasts the attempt; without it the heartbeat ends with the attempt
			"one-try",         // a failed attempt is not repeated; without it the library's default retry policy applies
			"own-handle",      // a locker for each attempt; without it, one locker for all
		},
		Slots: func(key string, _ int) ([]Slot, int) { return []Slot{{Node: 0, Key: gooseRow(key)}}, 1 },
	})
	Register(Kind{
		Name: "goose-session", System: Postgres, Adapter: adapters + "goose", Library: "github.com/pressly/goose/v3", Endless: true,
		Title: library + "NewPostgresSessionLocker, pg_try_advisory_lock every 5 seconds; the lock lasts as long as the connection",
		Features: []string{
			"discard",    // a connection whose unlock has failed is closed; without it the connection returns to the pool and still holds the lock
			"own-handle", // a locker for each attempt; without it, one locker for all
		},
		Slots: func(key string, _ int) ([]Slot, int) {
			return []Slot{{Node: 0, Key: "advisory/" + strconv.FormatInt(PostgresNumber(key), 10)}}, 1
		},
	})
}

// gooseRow returns the row that a lock is stored in.
func gooseRow(key string) string {
	return "goose_lock/" + strconv.FormatInt(PostgresNumber(key), 10)
}
