package locks

// SQLite is the system of locks in a SQLite database: a file that the processes of one machine share.
const SQLite = "sqlite"

// The locks on SQLite are ours, on modernc.org/sqlite, unmodified. They are made elsewhere, as those
// of libraries are.
func init() {
	Register(Kind{
		Name: "sqlite-lease", System: SQLite, Adapter: adapters + "sqlite", Library: "modernc.org/sqlite",
		Title:    "SQLite: a row with its holder and its end, taken by INSERT … ON CONFLICT … WHERE expires_at < now by the machine's clock; token: its generation",
		OwnClock: true, Accepts: []string{"clock"},
		Features: []string{
			"busy-timeout", // SQLite waits for the file's lock for up to 5 s; else it says at once that it is busy
			"synchronous",  // SQLite goes on when the disk has what it has written, as by default; else PRAGMA synchronous = OFF
			"holder-check", // release and extend only what is still one's own
			"keep-row",     // release by UPDATE, so that the generation goes on; else by DELETE
			"generation",   // is the token; else the lock has none of its own
		},
		Slots: func(key string, _ int) ([]Slot, int) { return []Slot{{Node: 0, Key: SQLiteRow(key)}}, 1 },
	})
	for name, title := range map[string]string{
		"sqlite-transaction":      "SQLite: BEGIN IMMEDIATE, and the file is the holder's until COMMIT; the data is in the storage",
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

// SQLiteRow is the row that a lease is kept in.
func SQLiteRow(key string) string { return "locks/" + key }

// SQLiteFile is the database that is a lock by itself.
func SQLiteFile(key string) string { return key + ".db" }
