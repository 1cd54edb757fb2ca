package command

import "testing"

// --nodes is refused if the lock does not use that many nodes. A cluster may have any
// number.
func TestUsesNodes(t *testing.T) {
	for _, c := range []struct {
		kind  string
		nodes int
		uses  bool // whether a lock of this kind can use that many nodes
	}{
		{"single", 1, true}, {"single", 3, false}, {"redlock", 5, true},
		{"etcd", 1, true}, {"etcd", 3, true}, {"zookeeper", 5, true},
	} {
		if err := checkNodes(c.kind, c.nodes); (err == nil) != c.uses {
			t.Errorf("%s on %d nodes: the error is %v; that it uses them should be %v", c.kind, c.nodes, err, c.uses)
		}
	}
}
