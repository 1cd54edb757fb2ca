package catalogue

import "testing"

// endless are the variants whose runs are over before a fault is that has an end, and why
// nothing of the story is missing. A name may end in one of the two settings of fencing.
var endless = map[string]string{
	"etcd-partition/one-endpoint":              "the client learns of the loss by its own clock, before the partition is over",
	"etcd-partition/all-endpoints":             "the client keeps its lease with another member, before the partition is over",
	"etcd-stale-leader/renews":                 "the holder has written and released while the disk still stalls",
	"kubernetes-clock/fast":                    "the client does not listen for the loss, and is done before the partition is over",
	"kubernetes-partition/ignores":             "the client does not listen for the loss, and is done before the partition is over",
	"kubernetes-partition/heeds":               "the client learns of the loss by its own clock, before the partition is over",
	"kubernetes-partition/release-on-cancel":   "the leader has given up before the partition is over",
	"redlock-naive/spec":                       "no client waits for the node that is paused",
	"redlock-naive/wall-clock":                 "no client waits for the node that is paused",
	"redlock-naive/no-drift":                   "no client waits for the node that is paused",
	"same-holder-cut-off/gives-up":             "the holder writes, or stops, before the partition is over",
	"same-leader/heeds":                        "the client learns of the loss by its own clock, before the partition is over",
	"same-leader/ignores":                      "the client does not listen for the loss, and is done before the partition is over",
	"same-leader/late":                         "the client learns of the loss by its own clock, before the partition is over",
	"zookeeper-follower-cut-off/short-session": "another server tells the client of the loss, before the partition is over",
	"zookeeper-follower-cut-off/long-session":  "the client keeps its session with another server, before the partition is over",
	"zookeeper-session-expiry/ignores":         "the client does not listen for the loss; the variant expired runs until the client is told",
	"zookeeper-session-expiry/expired/on":      "the storage refuses the write, and the client stops before the partition is over",
	"zookeeper-session-expiry/disconnected":    "the client learns of the loss by its own clock, before the partition is over",
	"zookeeper-ticks/cut-off":                  "the server ends the session, and the holder writes, before the partition is over",
	"zookeeper-ticks/capped":                   "the server ends the session, and the holder writes, before the partition is over",
}

// FaultsAreOver fails for each variant whose run ends before a fault does that has an end,
// unless the list of endless variants says why.
func FaultsAreOver(t *testing.T) {
	results, err := Results()
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		for _, o := range result.Runs {
			name := result.Scenario.Name + "/" + o.Variant.Name
			if o.History.Unfinished() != nil && endless[name] == "" && endless[name+"/"+o.Fencing] == "" {
				t.Errorf("%s, fencing %s: the run is over before a fault is; let it go on, or say in the list why not", name, o.Fencing)
			}
		}
	}
}
