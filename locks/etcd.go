package locks

import "strings"

// Etcd is the system of locks on etcd.
const Etcd = "etcd"

// Other packages make the locks on etcd, as for those of libraries. Each handle has a
// session: an etcd lease, which its client renews as long as the process lives. etcd counts
// a TTL in whole seconds.
func init() {
	const concurrency = "go.etcd.io/etcd/client/v3/concurrency, unmodified"
	for name, title := range map[string]string{
		"etcd":          concurrency + ": a Session for each handle, and Mutex.Lock, which waits for those before it",
		"etcd-trylock":  concurrency + ": Mutex.TryLock, which does not wait",
		"etcd-election": concurrency + ": Election, whose leader is who holds the lock",

		"etcd-election-version": "as etcd-election, but it goes on leading, proclaims with each section, and takes the key's version for a token",

		"etcd-no-recheck":     ownTitle("Mutex.Lock that, having waited, does not look whether its own key still stands, as that of 3.4.3"),
		"etcd-ask-owner":      ownTitle("who waits asks whether its own key stands, as Mutex.IsOwner does, and takes that for the lock"),
		"etcd-put-recipe":     ownTitle("one key that everybody puts with a lease, whether it is there or not; its create revision for a token"),
		"etcd-put-recipe-mod": ownTitle("as etcd-put-recipe, but with the revision of the put for a token"),
		"etcd-look-then-put":  ownTitle("as etcd-put-recipe-mod, but it looks whether the key is there before"),
	} {
		features := []string{"loss-signal"} // the client watches Session.Done
		if name == Etcd {
			features = append(features,
				"own-session",        // instead of using a session that another process has written down
				"session-per-handle", // instead of sharing a session, and so a key, between the handles of a process
				"new-session",        // instead of using a session that has ended
				"unlock",             // release by Mutex.Unlock instead of Session.Close
				"revision-token",     // the key's create revision instead of its version, which is always 1
				"all-endpoints",      // instead of only the endpoint with the process's own number, the first for client-1
			)
		}
		queues := !strings.Contains(name, "-put") // with a key of its own, which identifies the lock's owner
		Register(Kind{Name: name, Title: title, System: Etcd, Slots: InCluster, HasDataClient: true, ChecksOwner: queues, Adapter: adapters + "etcd", Library: "go.etcd.io/etcd/client/v3", Features: features})
	}
}

// ownTitle returns the title of a recipe that is not part of a library.
func ownTitle(title string) string { return "ours, on etcd's client: " + title }
