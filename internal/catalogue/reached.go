package catalogue

import (
	"maps"
	"slices"
	"testing"
)

// endless are the variants whose runs are over before a fault is that has an end, and why
// nothing of the story is missing. Their progress is n/a. A name may end in one of the two
// settings of fencing.
var endless = map[string]string{
	"same-holder-cut-off/gives-up":             "the holder writes, or stops, before the partition is over",
	"zookeeper-follower-cut-off/short-session": "another server tells the client of the loss, before the partition is over",
	"zookeeper-follower-cut-off/long-session":  "the client keeps its session with another server, before the partition is over",
	"zookeeper-session-expiry/ignores":         "the client does not listen for the loss; the variant expired runs until the client is told",
	"zookeeper-session-expiry/expired/on":      "the storage refuses the write, and the client stops before the partition is over",
	"zookeeper-session-expiry/disconnected":    "the client learns of the loss by its own clock, before the partition is over",
	"zookeeper-ticks/cut-off":                  "the server ends the session, and the holder writes, before the partition is over",
	"zookeeper-ticks/capped":                   "the server ends the session, and the holder writes, before the partition is over",
}

// FaultsAreOver fails for each variant whose run ends before a fault does that has an end,
// unless the list of endless variants says why, and for each entry of the list whose runs
// last long enough.
func FaultsAreOver(t *testing.T) {
	results, err := Results()
	if err != nil {
		t.Fatal(err)
	}
	idle := maps.Clone(endless)
	for _, result := range results {
		for _, o := range result.Runs {
			name := result.Scenario.Name + "/" + o.Variant.Name
			fenced := name + "/" + o.Fencing
			switch {
			case o.History.Unfinished() == nil:
			case endless[name] != "":
				delete(idle, name)
			case endless[fenced] != "":
				delete(idle, fenced)
			default:
				t.Errorf("%s, fencing %s: the run is over before a fault is; let it go on, or say in the list why not", name, o.Fencing)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(idle)) {
		t.Errorf("%s: the list says why its run is over before a fault is, and it is not; take it out of the list", name)
	}
}
