package trace

// An Assumption is something that a lock takes for granted, and that a fault breaks.
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
