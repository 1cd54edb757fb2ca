package locks

// Consul is the system of locks on Consul.
const Consul = "consul"

// Other packages make the locks on Consul, as for those of libraries. Each attempt has a
// Consul session, which its client renews until the lock is released. The TTL is at least
// 10 s.
func init() {
	const lock = "github.com/hashicorp/consul/api, unmodified: its Lock, with a session for each attempt"
	for name, title := range map[string]string{
		"consul":           lock + "; token: the key's ModifyIndex, read after Lock",
		"consul-lockindex": "as consul, but the token is the key's LockIndex",
		"consul-patient":   "as consul, but a failed check of the key is repeated up to three times: MonitorRetries",
	} {
		Register(Kind{
			Name: name, Title: title, System: Consul, Slots: onFirstNode, Adapter: adapters + "consul", Library: "github.com/hashicorp/consul/api",
			Features: []string{
				"loss-signal", // the work is notified when Lock's channel is closed
				"lock-delay",  // 15 s, the default; without it 1 ms, because a delay of 0 cannot be requested
				"token-check", // a token counts only if the key names the client's own session when it is read
				"kept-key",    // without it the key is deleted on release: Lock.Destroy
				"lost-unlock", // Unlock is called even if the lock is lost
				"own-handle",  // each attempt has its own Lock; without it all attempts of a process share one
			},
		})
	}
	Register(Kind{
		Name: "consul-semaphore", System: Consul, Adapter: adapters + "consul", Library: "github.com/hashicorp/consul/api",
		Title:    "github.com/hashicorp/consul/api, unmodified: its Semaphore, with as many holders as the option holders says; no token",
		Slots:    noSlots,
		Accepts:  []string{"holders"},
		Features: []string{"loss-signal", "lost-unlock", "own-handle"},
	})
}

// noSlots is for a lock whose holder no server can name: the holders of a semaphore are in
// the value of a key.
func noSlots(string, int) ([]Slot, int) { return nil, 0 }
