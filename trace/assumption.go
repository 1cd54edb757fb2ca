package trace

// An Assumption is something that a lock relies on and that a fault can break.
type Assumption string

const (
	AssumeProcess       Assumption = "process"        // processes run, and servers serve
	AssumeNetwork       Assumption = "network"        // messages arrive, and in time
	AssumeClock         Assumption = "clock"          // clocks keep time, and are not set
	AssumeLockMemory    Assumption = "lock memory"    // the lock's servers forget nothing
	AssumeStorageMemory Assumption = "storage memory" // the storage forgets nothing
)

// Assumptions lists all assumptions.
func Assumptions() []Assumption {
	return []Assumption{AssumeProcess, AssumeNetwork, AssumeClock, AssumeLockMemory, AssumeStorageMemory}
}
