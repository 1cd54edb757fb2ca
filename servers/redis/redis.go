package redis

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// init registers the card of the system redis: what scenarios may set on a Redis node,
// which faults apply to it, and the functions that simulate it.
func init() {
	sim.RegisterSystem(sim.System{
		Name:  locks.Redis,
		Title: "Redis, simulated by miniredis",
		Node:  "Redis node",
		Port:  6379,
		Disks: []sim.Disk{
			// StallAdvice says what a stall of the disk does to a node with this
			// persistence. It follows from flushAppendOnlyFile and rdbSaveBackground of
			// Redis.
			{Persistence: sim.NoPersistence, StallAdvice: "the node does not notice, because it writes nothing to disk"},
			{Persistence: Snapshots, Keeps: []trace.Crash{trace.Shutdown}, StallAdvice: "a child process waits for the disk, and the node continues"},
			{Persistence: Everysec, Keeps: []trace.Crash{trace.Shutdown, trace.Kill}, HandlesStall: true},
			{Persistence: Always, Keeps: []trace.Crash{trace.Shutdown, trace.Kill, trace.PowerLoss}, StallAdvice: "the node stops at its next write and serves no client, so use a pause of the node instead"},
		},
		Replicates: true,
		Demotes:    true,
		Revokes:    true,
		Settings: []sim.Setting{
			{Name: minReplicasSetting, Title: "a master accepts a write only if it has heard recently from this many replicas; 0 turns this off", Check: checkCount},
			{Name: maxLagSetting, Title: "what counts as recently: at most this long ago, such as 10s, the default", Check: checkLag},
		},
		// The fault fail makes a node answer with this error, unless the scenario chooses the error
		// of the manner (a form of the fault) below.
		Failure: errLoading,
		IdleCheckGap: func() string {
			if locks.ChecksIdle() {
				return ""
			}
			return IdleCheckGap
		},
		Manners: map[string][]sim.Manner{"fail": {{
			Value: errOOM, Slug: "out-of-memory",
			Phrases: trace.Phrases{Subject: "{target}", Predicate: "answers every command with an out-of-memory error{lasting}", Noun: "{target} answering with out-of-memory errors"},
		}}},
		// A framer cuts the bytes that a client sends into commands.
		Framer: func(names *sim.Names) sim.Framer { return &framer{names: names} },
		// Before a world begins, enough instances of miniredis are started for its nodes.
		Prepare: instances.prepare,
		Boot:    newNode,
	})
}

// The persistences of a node: what it writes to its disk, and when. A node that writes
// nothing has [sim.NoPersistence].
const (
	// Snapshots is Redis's default. The node writes its whole data set to the disk an hour
	// after one change, five minutes after 100 changes or one minute after 10,000, and at a
	// clean shutdown.
	Snapshots sim.Persistence = "snapshots"
	// Everysec appends every command to a file before the node answers it. The operating system
	// writes the file to the disk in the background: immediately, or one second after the previous
	// write began if that is later. While that write lasts, newly appended data waits in the
	// server's memory, for up to two seconds.
	Everysec sim.Persistence = "everysec"
	// Always appends every command to that file and writes the file to the disk before the
	// node answers.
	Always sim.Persistence = "always"
)

// IdleCheckGap is the note in the results of a build whose go-redis does not check whether
// an idle connection is still open: see [locks.ChecksIdle].
const IdleCheckGap = "in this build, go-redis does not check an idle connection before it uses it; on Linux it does, and the result there may differ"

// errLoading is Redis's answer to commands while it reads its data from the disk:
// shared.loadingerr in https://github.com/redis/redis/blob/unstable/src/server.c
const errLoading = "LOADING Redis is loading the dataset in memory"

// errOOM is Redis's answer when its memory is full: shared.oomerr in the same file. After
// this error go-redis does not send the command again, but after LOADING it does
// (shouldRetry in its error.go).
const errOOM = "OOM command not allowed when used memory > 'maxmemory'."
