package locks

import "strings"

// Kubernetes is the system of locks on Kubernetes.
const Kubernetes = "kubernetes"

// Leader election on Kubernetes. The API server ends nobody's lease: each of those who want
// it watches how long it has not been renewed, and counts that by its own clock.
func init() {
	const library = "k8s.io/client-go/tools/leaderelection, unmodified, on a Lease"
	for name, title := range map[string]string{
		"kubernetes":            library + "; token: leaseTransitions + 1, as the holder itself has written it",
		"kubernetes-late-token": "as kubernetes, but the token is read from the Lease after it was acquired",
	} {
		Register(Kind{
			Name: name, Title: title, System: Kubernetes, Slots: kubernetesSlots, Adapter: adapters + "kubernetes", Library: "k8s.io/client-go",
			ReadsClock: true,
			Features: []string{
				"loss-signal",       // the work is told that its context has ended
				"release-on-cancel", // ReleaseOnCancel: the holder's name is taken out when it ends
				"own-identity",      // and not the same as that of all other replicas
				"request-timeout",   // half of RenewDeadline, as NewFromKubeconfig has it
				"kept-lease",        // who has released does not delete the Lease
			},
		})
	}
}

// KubernetesLease is the Lease that a lock is, with its namespace.
func KubernetesLease(key string) string { return "default/" + strings.Trim(key, "/") }

// KubernetesSession is what a holder has for as long as it renews the Lease that a lock is.
func KubernetesSession(key, holder string) string {
	return KubernetesLease(key) + " held by " + holder
}

func kubernetesSlots(key string, _ int) (slots []Slot, quorum int) {
	return []Slot{{Key: KubernetesLease(key)}}, 1
}
