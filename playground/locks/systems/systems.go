// Package systems imports the locks of the playground's larger engine: those of package
// locks, and those on etcd, ZooKeeper and PostgreSQL. The clients of Consul and Kubernetes,
// and SQLite, do not compile for js.
package systems

import (
	_ "github.com/locksim/locksim/libraries/goose"
	_ "github.com/locksim/locksim/libraries/postgres"
	_ "github.com/locksim/locksim/libraries/zookeeper"
	_ "github.com/locksim/locksim/playground/locks"
)
