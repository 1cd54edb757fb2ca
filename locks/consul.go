package locks

// Consul is the system of locks on Consul.
const Consul = "consul"

// The locks on Consul are made elsewhere, as those of libraries are. Each attempt has a session
// of Consul, which its client renews until the lock is given up. A TTL is 10 s at least.
func init() {
	const lock = "github.com/hashicorp/consul/api, unmodified: its Lock, with a session for each attempt"
	for name, title := range map[string]string{
		"consul":           lock + "; token: the key's ModifyIndex, read after Lock",
		"consul-lockindex": "as consul, but with the key's LockIndex for a token",
		"consul-patient":   "as consul, but a failed look at the key is tried again three times: MonitorRetries",
	} {
		Register(Kind{
			Name: name, Title: title, System: Consul, Slots: onFirstNode, Adapter: adapters + "consul", Library: "github.com/hashicorp/consul/api",
			Features: []string{
				"loss-signal", // the work is told when Lock's channel is closed
				"lock-delay",  // 15 s, as by default; else 1 ms, as no delay cannot be asked for
				"token-check", // a token counts only if the key names one's own session when it is read
				"kept-key",    // else who releases the lock deletes its key: Lock.Destroy
				"lost-unlock", // Unlock is called also when the lock is lost
				"own-handle",  // each attempt has a Lock of its own; else all of a process's have one
			},
		})
	}
	Register(Kind{
		Name: "consul-semaphore", System: Consul, Adapter: adapters + "consul", Library: "github.com/hashicorp/consul/api",
		Title:    "github.com/hashicorp/consul/api, unmodified: its Semaphore, which lets in as many as holders says; no token",
		Slots:    noSlots,
		Accepts:  []string{"holders"},
		Features: []string{"loss-signal", "lost-unlock", "own-handle"},
	})
}

// noSlots is of a lock of which no server can tell who has it: the holders of a semaphore are
// in the value of a key.
func noSlots(string, int) ([]Slot, int) { return nil, 0 }
