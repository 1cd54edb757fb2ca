module github.com/locksim/locksim/libraries/goose

go 1.26.0

require (
	github.com/jackc/pgx/v5 v5.12.0
	github.com/locksim/locksim v0.1.0
	github.com/locksim/locksim/libraries/postgres v0.1.0
	github.com/locksim/locksim/servers/postgres v0.1.0
	github.com/pressly/goose/v3 v3.29.0
	github.com/sethvargo/go-retry v0.5.0
)

require (
	github.com/alicebob/miniredis/v2 v2.40.0 // indirect
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/redis/go-redis/v9 v9.16.0 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	maragu.dev/gomponents v1.2.0 // indirect
)
