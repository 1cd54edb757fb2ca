package locks

// SQLite is the system of locks in a SQLite database: a file that the processes of one
// machine share.
const SQLite = "sqlite"

// The locks on SQLite are ours, written on the unmodified library modernc.org/sqlite. They
// are only registered here; the package libraries/sqlite makes them.
func init() {
	Register(Kind{
		Name: "sqlite-lease", System: SQLite, Adapter: adapters + "sqlite", Library: "modernc.org/sqlite",
		Title:    "SQLite: a row with its holder and its expiry, acquired by INSERT … ON CONFLICT … WHERE expires_at < now by the machine's clock; token: its generation",
		OwnClock: true, Accepts: []string{"clock"},
		Features: []string{
			"busy-timeout", // SQLite waits up to 5 s if another process has the file locked; without it, SQLite returns SQLITE_BUSY immediately
			"synchronous",  // SQLite waits until its writes are on the disk, which is the default; without it PRAGMA synchronous = OFF
			"holder-check", // release and extend only the client's own lease
			"keep-row",     // release by UPDATE, so that the generation continues; without it by DELETE
			"generation",   // the generation is the token; without it the lock has no token of its own
		},
		Slots: func(key string, _ int) ([]Slot, int) { return []Slot{{Node: 0, Key: SQLiteRow(key)}}, 1 },
	})
	for name, title := range map[string]string{
		"sqlite-transaction":      "SQLite: BEGIN IMMEDIATE, and the client holds the file until COMMIT; the data is in the storage",
		"sqlite-transaction-data": "as sqlite-transaction, but the data is in that file, read and written in the same transaction",
	} {
		k := Kind{
			Name: name, System: SQLite, Adapter: adapters + "sqlite", Library: "modernc.org/sqlite", Title: title,
			OwnClock: true, Endless: true, KeepsData: name == "sqlite-transaction-data",
			Features: []string{"busy-timeout"},
			Slots:    func(key string, _ int) ([]Slot, int) { return []Slot{{Node: 0, Key: SQLiteFile(key)}}, 1 },
		}
		if k.KeepsData {
			k.Features = append(k.Features, "synchronous")
		}
		Register(k)
	}
}

// SQLiteRow returns the row that a lease is stored in.
func SQLiteRow(key string) string { return "locks/" + key }

// SQLiteFile returns the file name of the database that is a lock by itself.
func SQLiteFile(key string) string { return key + ".db" }
