package exercises

import (
	"cmp"
	"embed"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// worldFiles has the scenarios of the hidden worlds, with the values that a seed decides written
// as ${A}: see [values].
//
//go:embed _worlds
var worldFiles embed.FS

// A strictness says which violations fail a lock in a world.
type strictness int

const (
	// everything: no property may be violated, whether or not the lock is to blame. The world's
	// faults are those that the stage is about.
	everything strictness = iota
	// ownFaults: no property may be violated by the lock's own fault. The world has a client
	// that works longer than its lease, which no lock can prevent.
	ownFaults
	// fencedData: as ownFaults, and the storage, which checks tokens, must keep the data
	// right.
	fencedData
)

// A hiddenWorld is a world that the reader does not see before the lock fails in it.
type hiddenWorld struct {
	stage int
	name  string
	// grants has a letter for each grant that the world must see: AAB means that client A is
	// granted the lock twice, and client B once. A lock that refuses everybody therefore
	// passes no world.
	grants     string
	strictness strictness
	// strangers are the letters of the clients that use another implementation.
	strangers string
	// isLoose says that the faults need not strike, because that depends on how many
	// commands the lock sends.
	isLoose bool
}

// hiddenWorlds are all worlds, in the order of the stages.
var hiddenWorlds = []hiddenWorld{
	{stage: 1, name: "in-turn", grants: "AAABBBCCC"},
	{stage: 1, name: "stranger", grants: "ABC", strangers: "B"},
	{stage: 1, name: "whole-lease", grants: "AB"},
	{stage: 1, name: "holder-crashes", grants: "AB"},
	{stage: 1, name: "crash-in-acquire", grants: "B"},

	{stage: 2, name: "late-release", grants: "ABC"},
	{stage: 2, name: "late-release-stranger", grants: "ABC", strangers: "B"},
	{stage: 2, name: "paused-before-release", grants: "ABC", strictness: ownFaults},
	{stage: 2, name: "own-late-release", grants: "AAAB"},

	{stage: 3, name: "slow-answer-in-release", grants: "ABC"},
	{stage: 3, name: "slow-answer-in-release-stranger", grants: "ABC", strangers: "B"},
	{stage: 3, name: "slow-second-answer-in-release", grants: "ABC", isLoose: true},
	{stage: 3, name: "pause-in-release", grants: "ABC"},

	{stage: 4, name: "late-grant", grants: "AB"},
	{stage: 4, name: "late-grant-stranger", grants: "AB", strangers: "B"},
	{stage: 4, name: "slow-grant", grants: "AB", strictness: ownFaults},
	{stage: 4, name: "late-answer", grants: "B"},

	{stage: 5, name: "long-work", grants: "AB"},
	{stage: 5, name: "long-work-stranger", grants: "AB", strangers: "B"},
	{stage: 5, name: "extended-too-late", grants: "ABC", strictness: ownFaults},
	{stage: 5, name: "slow-answer-in-extend", grants: "ABC", strictness: ownFaults},
	{stage: 5, name: "late-extend", grants: "ABC", strictness: ownFaults},

	{stage: 6, name: "five-in-turn", grants: "AAABBBCCC"},
	{stage: 6, name: "two-nodes-down", grants: "AABB"},
	{stage: 6, name: "first-node-down", grants: "AB"},
	{stage: 6, name: "two-nodes-forget", grants: "AB"},
	{stage: 6, name: "first-node-forgets", grants: "AB"},
	{stage: 6, name: "split", grants: "AB"},
	{stage: 6, name: "split-stranger", grants: "AB", strangers: "B"},
	{stage: 6, name: "node-hangs", grants: "AB"},
	{stage: 6, name: "five-late-grants", grants: "AB"},
	{stage: 6, name: "five-late-releases", grants: "ABC"},
	{stage: 6, name: "five-long-work", grants: "AB"},
	{stage: 6, name: "extend-on-two", grants: "AB", strictness: ownFaults},

	{stage: 7, name: "paused-before-write", grants: "AB", strictness: fencedData},
	{stage: 7, name: "tokens-in-turn", grants: "AAAABC"},
	{stage: 7, name: "failed-attempts-count", grants: "BC"},
}

// seedsPerWorld is on how many seeds each world is run.
const seedsPerWorld = 4

// A trialWorld is a hidden world with a seed, ready to run.
type trialWorld struct {
	hiddenWorld
	seed uint64
	// clients are the names of the clients A, B, C and D.
	clients []string
	text    string
}

// address returns the name of the world with its seed, as --replay takes it.
func (w trialWorld) address() string { return fmt.Sprintf("%s/%d", w.name, w.seed) }

// fencing is the run that shows whether the lock has the property.
func (w trialWorld) fencing() string {
	if w.stage == lastStage {
		return scenarios.On
	}
	return scenarios.Off
}

// lastStage is the number of the last stage.
const lastStage = 7

// client returns the name of the client with a letter.
func (w trialWorld) client(letter rune) string { return w.clients[letter-'A'] }

// worldsOf returns the worlds of a stage. Which seeds they have depends on the source of the
// lock: a lock that does well on some seeds only does not keep them.
func worldsOf(stage int, source []byte) (all []trialWorld) {
	sum := fnv.New64a()
	sum.Write(source)
	first := sum.Sum64()%900_000 + 1
	for _, h := range hiddenWorlds {
		if h.stage == stage {
			for i := range uint64(seedsPerWorld) {
				all = append(all, h.with(first+i))
			}
		}
	}
	return all
}

// parseAddress returns the world with an address, such as in-turn/7.
func parseAddress(address string) (trialWorld, bool) {
	name, number, _ := strings.Cut(address, "/")
	seed, err := strconv.ParseUint(number, 10, 64)
	for _, h := range hiddenWorlds {
		if h.name == name && err == nil {
			return h.with(seed), true
		}
	}
	return trialWorld{}, false
}

// file returns the name of the world's file, without its extension. A world with strangers
// has the file of the one without them.
func (h hiddenWorld) file() string { return strings.TrimSuffix(h.name, "-stranger") }

// with returns the world with a seed. The seed also decides what the lock must not depend
// on: the TTL, the key, which client plays which part, and which nodes fail.
func (h hiddenWorld) with(seed uint64) trialWorld {
	random := rand.New(rand.NewSource(int64(seed)))
	v := values{ttl: time.Duration(1000+random.Intn(1400)) * time.Millisecond, key: fmt.Sprintf("job-%d", random.Intn(1000))}
	for _, i := range random.Perm(3) {
		v.clients = append(v.clients, fmt.Sprintf("client-%d", i+1))
	}
	v.clients = append(v.clients, "client-4")
	for _, i := range random.Perm(5) {
		v.nodes = append(v.nodes, fmt.Sprintf("redis-%d", i+1))
	}
	text, err := worldFiles.ReadFile("_worlds/" + h.file() + ".yaml")
	if err != nil {
		panic(err) // impossible: the files are part of the program
	}
	world := trialWorld{hiddenWorld: h, seed: seed, clients: v.clients, text: os.Expand(string(text), v.value)}
	if h.isLoose {
		world.text += "unscripted: true\n"
	}
	return world
}

// values are what a seed decides in a world.
type values struct {
	ttl            time.Duration
	clients, nodes []string
	key            string
}

// value returns the value that is written as ${name} in the file of a world:
//
//   - A, B and C are the names of the clients that a world is about. D is the name of a client
//     that uses the lock before them, without any fault. After that the servers have the scripts
//     of the lock, so a message that a fault holds back is the one with the effect: the first
//     EVALSHA of a script would do nothing, whenever it arrives.
//   - Key is the key of the lock.
//   - Node 1 to Node 5 are the names of the nodes, in an order that depends on the seed.
//   - TTL is the TTL, and TTL 0.5 half of it.
func (v values) value(name string) string {
	name, argument, _ := strings.Cut(name, " ")
	number, err := strconv.ParseFloat(cmp.Or(argument, "1"), 64)
	if err != nil {
		panic(err) // impossible: a test reads all files
	}
	switch name {
	case "A", "B", "C", "D":
		return v.clients[name[0]-'A']
	case "Key":
		return v.key
	case "Node":
		return v.nodes[int(number)-1]
	case "TTL":
		return time.Duration(float64(v.ttl) * number).Round(time.Millisecond).String()
	}
	panic("exercises: the file of a world has an unknown value: " + name) // impossible: a test reads all files
}
