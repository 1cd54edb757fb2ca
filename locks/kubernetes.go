package locks

import "strings"

// Kubernetes is the system of locks on Kubernetes.
const Kubernetes = "kubernetes"

// Leader election on Kubernetes. The API server does not end a lease. Each candidate
// watches how long the lease has not been renewed, on its own clock.
func init() {
	const library = "k8s.io/client-go/tools/leaderelection, unmodified, on a Lease"
	for name, title := range map[string]string{
		"kubernetes":            library + "; token: leaseTransitions + 1, as the holder itself wrote it",
		"kubernetes-late-token": "as kubernetes, but the token is read from the Lease after the lock was acquired",
	} {
		Register(Kind{
			Name: name, Title: title, System: Kubernetes, Slots: kubernetesSlots, Adapter: adapters + "kubernetes", Library: "k8s.io/client-go",
			ReadsClock: true,
			Features: []string{
				"loss-signal",       // the work is notified when its context has ended
				"release-on-cancel", // ReleaseOnCancel: the holder's name is removed when it ends
				"own-identity",      // instead of one that all replicas share
				"request-timeout",   // half of RenewDeadline, as in NewFromKubeconfig
				"kept-lease",        // without it the Lease is deleted on release
			},
		})
	}
}

// KubernetesLease returns the namespace and name of the Lease that is a lock.
func KubernetesLease(key string) string { return "default/" + strings.Trim(key, "/") }

// KubernetesSession returns the name of a holder's session, which lasts as long as the
// holder renews the lock's Lease.
func KubernetesSession(key, holder string) string {
	return KubernetesLease(key) + " held by " + holder
}

func kubernetesSlots(key string, _ int) (slots []Slot, quorum int) {
	return []Slot{{Key: KubernetesLease(key)}}, 1
}
