package trace

// An Assumption is something that a lock relies on and that a fault can break.
type Assumption string

const (
	AssumeProcess       Assumption = "process"
	AssumeNetwork       Assumption = "network"
	AssumeClock         Assumption = "clock"
	AssumeLockMemory    Assumption = "lock memory"
	AssumeStorageMemory Assumption = "storage memory"
)

// Assumptions lists all assumptions.
func Assumptions() []Assumption {
	return []Assumption{AssumeProcess, AssumeNetwork, AssumeClock, AssumeLockMemory, AssumeStorageMemory}
}
