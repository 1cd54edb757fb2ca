package kubernetes

import (
	"time"
	_ "unsafe" // for go:linkname

	_ "k8s.io/apimachinery/pkg/util/wait"
)

// An elector that waits for the lock tries again after RetryPeriod and up to 1.2 times as much
// more, which client-go draws from a source that all worlds of a program share. Here it is
// drawn from the moment: in a world that is no chance, it follows from the world's seed as the
// latencies do, and no two processes act in one moment.
//
//go:linkname jitterRand k8s.io/apimachinery/pkg/util/wait.jitterRand
var jitterRand func() float64

func init() { jitterRand = func() float64 { return drawn(uint64(time.Now().UnixNano())) } }

// drawn is a number from 0 to less than 1 that neighbours do not resemble: SplitMix64, by
// Guy Steele, Doug Lea and Christine Flood (2014).
func drawn(n uint64) float64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	n ^= n >> 31
	return float64(n>>11) / (1 << 53)
}
