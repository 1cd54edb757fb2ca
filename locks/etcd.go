package locks

// Etcd is the system of locks on etcd.
const Etcd = "etcd"

// The locks on etcd are made elsewhere, as those of libraries are. Each of their handles
// has a lease of etcd, which its client prolongs for as long as the process lives: a
// session. A TTL is counted in whole seconds there.
func init() {
	const concurrency = "go.etcd.io/etcd/client/v3/concurrency, unmodified"
	for name, title := range map[string]string{
		"etcd":          concurrency + ": Session and Mutex.Lock, which waits for those before it",
		"etcd-trylock":  concurrency + ": Session and Mutex.TryLock, which does not wait",
		"etcd-election": concurrency + ": Session and Election, whose leader is who holds the lock",
	} {
		Register(Kind{Name: name, Title: title, System: Etcd, Slots: inCluster, Adapter: adapters + "etcd"})
	}
}
