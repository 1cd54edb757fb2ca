package redis

import (
	"fmt"
	"strconv"
	"time"
)

// A master that is set so takes no writes while it has not heard of enough replicas lately.
// It limits for how long two masters take writes, and does not prevent it:
// https://redis.io/docs/latest/operate/oss_and_stack/management/replication/, "Allow writes
// only with N attached replicas".
const (
	minReplicas = "min-replicas-to-write"
	maxLag      = "min-replicas-max-lag"

	usualLag      = 10 * time.Second
	errNoReplicas = "NOREPLICAS Not enough good replicas to write."
)

func checkCount(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 0 {
		return fmt.Errorf("%q is no number of replicas; write one such as 1", value)
	}
	return nil
}

func checkLag(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d <= 0 {
		return fmt.Errorf("%q is no time; write one such as 10s", value)
	}
	return nil
}

// set takes the node's settings; they were checked before.
func (r *replication) set() {
	r.least, _ = strconv.Atoi(r.n.host.Set(minReplicas))
	r.most = usualLag
	if d, err := time.ParseDuration(r.n.host.Set(maxLag)); err == nil {
		r.most = d
	}
}

// alone says that a master has not heard of enough replicas lately.
func (r *replication) alone() bool {
	if r.least == 0 || r.Follows() {
		return false
	}
	good, now := 0, r.n.host.Clock().Now()
	for _, at := range r.heard {
		if now.Sub(at) <= r.most {
			good++
		}
	}
	return good < r.least
}

// writes says whether a command changes keys, as far as its name tells: a script's do not
// count, but those that it sends.
func (n *node) writes(name string, args []string) bool {
	_, reads := n.readOnlyCommand(name, args)
	return !reads
}
