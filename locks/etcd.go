package locks

import "strings"

// Etcd is the system of locks on etcd.
const Etcd = "etcd"

// The locks on etcd are made elsewhere, as those of libraries are. Each of their handles
// has a lease of etcd, which its client prolongs for as long as the process lives: a
// session. A TTL is counted in whole seconds there.
func init() {
	const concurrency = "go.etcd.io/etcd/client/v3/concurrency, unmodified"
	for name, title := range map[string]string{
		"etcd":          concurrency + ": a Session for each handle, and Mutex.Lock, which waits for those before it",
		"etcd-trylock":  concurrency + ": Mutex.TryLock, which does not wait",
		"etcd-election": concurrency + ": Election, whose leader is who holds the lock",

		"etcd-election-version": "as etcd-election, but it goes on leading, proclaims with each section, and takes the key's version for a token",

		"etcd-no-recheck":     ours("Mutex.Lock that, having waited, does not look whether its own key still stands, as that of 3.4.3"),
		"etcd-ask-owner":      ours("who waits asks whether its own key stands, as Mutex.IsOwner does, and takes that for the lock"),
		"etcd-put-recipe":     ours("one key that everybody puts with a lease, whether it is there or not; its create revision for a token"),
		"etcd-put-recipe-mod": ours("as etcd-put-recipe, but with the revision of the put for a token"),
		"etcd-look-then-put":  ours("as etcd-put-recipe-mod, but it looks whether the key is there before"),
	} {
		features := []string{"loss-signal"} // somebody looks at Session.Done
		if name == Etcd {
			features = append(features,
				"own-session",        // and does not go on with the one that another process has written down
				"session-per-handle", // and does not share one between the handles of a process, and with it their key
				"new-session",        // and does not go on with one that is over
				"unlock",             // Mutex.Unlock releases, and not Session.Close
				"revision-token",     // the key's create revision, and not its version, which is always 1
				"all-endpoints",      // and not only that of the process's own number, client-1's the first
			)
		}
		queues := !strings.Contains(name, "-put") // and by a key of its own, which tells whose the lock is
		Register(Kind{Name: name, Title: title, System: Etcd, Slots: InCluster, DataBeside: true, AsksOwner: queues, Adapter: adapters + "etcd", Library: "go.etcd.io/etcd/client/v3", Features: features})
	}
}

// ours is the title of a recipe that is no library's.
func ours(title string) string { return "ours, on etcd's client: " + title }
