package consul

import "github.com/hashicorp/consul/api"

// A semaphore is the library's Semaphore, with the method names of its Lock. It has no
// fencing token. Each new holder changes the key that lists all holders, but the library
// does not return the index of that change.
type semaphore struct{ *api.Semaphore }

// newSemaphore makes the library's Semaphore, for as many holders as the options of the lock allow.
func newSemaphore(l *lock) (recipe, error) {
	made, err := l.client.SemaphoreOpts(&api.SemaphoreOptions{
		Prefix: l.env.Key, Value: []byte(l.env.Client), Limit: max(l.env.Options.Holders, 1),
		SessionName: l.env.Client, SessionTTL: l.env.TTL.String(),
		MonitorRetries: l.retries,
	})
	return semaphore{made}, err
}

// Lock implements recipe.
func (s semaphore) Lock(stop <-chan struct{}) (<-chan struct{}, error) { return s.Acquire(stop) }

// Unlock implements recipe.
func (s semaphore) Unlock() error { return s.Release() }
