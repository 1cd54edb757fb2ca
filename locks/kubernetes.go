package locks

import "strings"

// Kubernetes is the system of locks on Kubernetes.
const Kubernetes = "kubernetes"

// The locks on Kubernetes are leader elections. The API server does not end a lease. Each
// candidate measures on its own clock for how long it has seen no renewal, and takes over
// when that is longer than the lease.
func init() {
	const library = "k8s.io/client-go/tools/leaderelection, unmodified, on a Lease"
	for name, title := range map[string]string{
		"kubernetes":            library + "; token: leaseTransitions + 1, as the holder itself wrote it",
		"kubernetes-late-token": "as kubernetes, but the token is read from the Lease after the lock was acquired",
	} {
		Register(Kind{
			Name: name, Title: title, System: Kubernetes, Slots: kubernetesSlots, Adapter: adapters + "kubernetes", Library: "k8s.io/client-go",
			ReadsClock: true,
			Renews:     true,
			TakenOver:  true,
			Features: []string{
				"loss-signal",       // the client's program is notified: the context of its work ends
				"release-on-cancel", // ReleaseOnCancel: a leader that stops removes its name from the Lease
				"own-identity",      // each replica has an identity of its own; without it all share one
				"request-timeout",   // a request takes at most half of RenewDeadline, as in NewFromKubeconfig
				"kept-lease",        // the Lease remains after a release; without it the Lease is deleted
			},
		})
	}
}

// KubernetesLease returns the namespace and name of the Lease object that keeps a lock.
func KubernetesLease(key string) string { return "default/" + strings.Trim(key, "/") }

// KubernetesSession returns the name of a holder's session, which lasts as long as the
// holder renews the lock's Lease.
func KubernetesSession(key, holder string) string {
	return KubernetesLease(key) + " held by " + holder
}

// kubernetesSlots returns one slot, the Lease, and a quorum of one.
func kubernetesSlots(key string, _ int) (slots []Slot, quorum int) {
	return []Slot{{Key: KubernetesLease(key)}}, 1
}
