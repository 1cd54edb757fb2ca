package locks

import "strings"

// Etcd is the system of locks on etcd.
const Etcd = "etcd"

// The locks on etcd are only registered here; the package libraries/etcd makes them. Each
// handle has a session: an etcd lease, which its client renews as long as the process
// lives. etcd counts a TTL in whole seconds.
func init() {
	const concurrency = "go.etcd.io/etcd/client/v3/concurrency, unmodified"
	for name, title := range map[string]string{
		"etcd":          concurrency + ": a Session for each handle, and Mutex.Lock, which waits for earlier clients",
		"etcd-trylock":  concurrency + ": Mutex.TryLock, which does not wait",
		"etcd-election": concurrency + ": Election, whose leader is the holder",

		"etcd-election-version": "as etcd-election, but the leader keeps its key and writes it again (Proclaim) for each section; token: the key's version",

		"etcd-no-recheck":     ownTitle("Mutex.Lock that, after waiting, does not check that its own key still exists, as in 3.4.3"),
		"etcd-ask-owner":      ownTitle("a waiter checks that its own key exists, as Mutex.IsOwner does, and mistakes that for holding the lock"),
		"etcd-put-recipe":     ownTitle("one key that each client puts with a lease, whether it exists or not; token: its create revision"),
		"etcd-put-recipe-mod": ownTitle("as etcd-put-recipe, but the token is the revision of the put"),
		"etcd-look-then-put":  ownTitle("as etcd-put-recipe-mod, but it first checks whether the key exists"),
	} {
		features := []string{"loss-signal"} // the client's program is notified when Session.Done is closed
		if name == Etcd {
			features = append(features,
				"own-session",        // without it the client uses a session whose ID another process has written down
				"session-per-handle", // without it the handles of a process share a session, and so a key
				"new-session",        // without it the client continues to use a session that has ended
				"unlock",             // release by Mutex.Unlock; without it by Session.Close
				"revision-token",     // the token is the key's create revision; without it the key's version, which is always 1
				"all-endpoints",      // the client knows all endpoints; without it only the one with the process's own number, the first for client-1
			)
		}
		queues := !strings.Contains(name, "-put") // each client has a key of its own, and the oldest key is the owner's
		Register(Kind{Name: name, Title: title, System: Etcd, Slots: InCluster, Renews: true, HasDataClient: true, ChecksOwner: queues, Adapter: adapters + "etcd", Library: "go.etcd.io/etcd/client/v3", Features: features})
	}
}

// ownTitle returns the title of a recipe that is ours and not part of a library.
func ownTitle(title string) string { return "ours, on etcd's client: " + title }
