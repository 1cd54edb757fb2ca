package consul

import "github.com/hashicorp/consul/api"

// A semaphore is a Semaphore of the library with the method names of its Lock. It has no
// token: each new holder changes the key that lists the holders, but the library does not
// return the index of that change.
type semaphore struct{ *api.Semaphore }

func newSemaphore(l *lock) (recipe, error) {
	made, err := l.client.SemaphoreOpts(&api.SemaphoreOptions{
		Prefix: l.env.Key, Value: []byte(l.env.Client), Limit: max(l.env.Options.Holders, 1),
		SessionName: l.env.Client, SessionTTL: l.env.TTL.String(),
		MonitorRetries: l.retries,
	})
	return semaphore{made}, err
}

func (s semaphore) Lock(stop <-chan struct{}) (<-chan struct{}, error) { return s.Acquire(stop) }

func (s semaphore) Unlock() error { return s.Release() }
