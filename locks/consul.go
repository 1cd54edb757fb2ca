package locks

// Consul is the system of locks on Consul.
const Consul = "consul"

// The locks on Consul are only registered here; the package libraries/consul makes them.
// Each attempt has a Consul session, which its client renews until the lock is released.
// The TTL is at least 10 s.
func init() {
	const lock = "github.com/hashicorp/consul/api, unmodified: its Lock, with a session for each attempt"
	for name, title := range map[string]string{
		"consul":           lock + "; token: the key's ModifyIndex, read after Lock",
		"consul-lockindex": "as consul, but the token is the key's LockIndex",
		"consul-patient":   "as consul, but a failed check of the key is repeated up to three times: MonitorRetries",
	} {
		Register(Kind{
			Name: name, Title: title, System: Consul, Slots: onFirstNode, Renews: true, Adapter: adapters + "consul", Library: "github.com/hashicorp/consul/api",
			Features: []string{
				"loss-signal", // the client's program is notified when the channel that Lock returned is closed
				"lock-delay",  // 15 s, the default; without it 1 ms, because a delay of 0 cannot be requested
				"token-check", // a token counts only if the key names the client's own session when it is read
				"kept-key",    // the key remains after a release; without it Lock.Destroy deletes the key on release
				"lost-unlock", // Unlock is called at the end of the section even if the lock is lost
				"own-handle",  // each attempt has its own Lock value; without it all attempts of a process share one
			},
		})
	}
	Register(Kind{
		Name: "consul-semaphore", System: Consul, Adapter: adapters + "consul", Library: "github.com/hashicorp/consul/api",
		Title:    "github.com/hashicorp/consul/api, unmodified: its Semaphore, with as many holders as the option holders says; no token",
		Slots:    noSlots,
		Renews:   true,
		Accepts:  []string{"holders"},
		Features: []string{"loss-signal", "lost-unlock", "own-handle"},
	})
}

// noSlots returns no slots and no quorum: the lock's grants are not recorded as keys on
// nodes. That is so for a semaphore, whose holders are listed in the value of a key.
func noSlots(string, int) ([]Slot, int) { return nil, 0 }
