package redis

import (
	"fmt"
	"slices"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// unservedCommands are the commands that some version of Redis has and this server does
// not. If a client sends one of them, the run is inconclusive.
var unservedCommands = strings.Fields(`
	ACL ASKING BGREWRITEAOF BGSAVE BITFIELD BITFIELD_RO BLMPOP CONFIG DEBUG FAILOVER FCALL FCALL_RO FUNCTION GEOHASH
	GEOSEARCHSTORE HEXPIREAT HEXPIRETIME HGETDEL HGETEX HPEXPIRE HPEXPIREAT HPEXPIRETIME LASTSAVE LATENCY LCS LOLWUT
	MIGRATE MODULE MONITOR MSETEX PFDEBUG PFSELFTEST PSYNC REPLCONF REPLICAOF RESET RESTORE-ASKING ROLE SAVE SHUTDOWN
	SLAVEOF SLOWLOG SORT SORT_RO SPUBLISH SSUBSCRIBE SUBSTR SUNSUBSCRIBE SYNC VADD VCARD VDIM VEMB VGETATTR VINFO
	VISMEMBER VLINKS VRANDMEMBER VRANGE VREM VSETATTR VSIM WAITAOF XACKDEL XDELEX XSETID ZDIFF ZDIFFSTORE ZINTERCARD
	ZRANGESTORE ZREVRANGESTORE`)

// unservedSubcommands are the subcommands that Redis has and this server does not, by
// command. CLIENT SETINFO and CLIENT MAINT_NOTIFICATIONS are left out: clients send them
// when they connect, and do not need the answer.
var unservedSubcommands = map[string][]string{
	"CLIENT": strings.Fields("CACHING GETREDIR HELP ID INFO KILL LIST NO-EVICT NO-TOUCH PAUSE REPLY TRACKING TRACKINGINFO UNBLOCK UNPAUSE"),
	"MEMORY": strings.Fields("DOCTOR HELP MALLOC-STATS PURGE STATS USAGE"),
	"OBJECT": strings.Fields("ENCODING FREQ HELP IDLETIME REFCOUNT"),
	"PUBSUB": strings.Fields("HELP SHARDCHANNELS SHARDNUMSUB"),
	"SCRIPT": strings.Fields("DEBUG HELP KILL"),
	"XGROUP": strings.Fields("HELP SETID"),
	"XINFO":  strings.Fields("HELP"),
}

// errNoCluster is the answer of every Redis server that does not belong to a Redis cluster.
const errNoCluster = "ERR This instance has cluster support disabled"

// noteDoubt makes the run inconclusive, because a client has sent a command that this
// server cannot answer as a real one does.
func (n *node) noteDoubt(command string) {
	n.host.Doubt(fmt.Sprintf("%s was sent %s, which a real Redis server knows and this one does not", n.host.Node().Name, command))
}

// refuseUnknown returns the error for a command that this server does not have, and notes a
// doubt if a real server may have it. A dot in the name means that the command belongs to a
// module, which a real server may have loaded.
func (n *node) refuseUnknown(words []string) string {
	name := toUpper(words[0])
	switch {
	case name == "READONLY" || name == "READWRITE":
		return errNoCluster
	case slices.Contains(unservedCommands, name) || strings.Contains(name, "."):
		n.noteDoubt(cString(name, 128))
	}
	return unknownCommand(words)
}

// checkUnserved notes a doubt if this server has the command, but not the subcommand or
// option that is used.
func (n *node) checkUnserved(name string, args []string) {
	switch kinds := unservedSubcommands[name]; {
	case kinds != nil && len(args) > 0:
		if kind := toUpper(args[0]); slices.Contains(kinds, kind) {
			n.noteDoubt(name + " " + kind)
		} else if name == "XINFO" && len(args) > 2 && strings.EqualFold(args[2], "FULL") {
			n.noteDoubt("XINFO " + kind + " with FULL")
		}
	case name == "COMMAND":
		n.noteDoubt(name)
	case name == "INFO" && (len(args) != 1 || !strings.EqualFold(args[0], "clients") && !strings.EqualFold(args[0], "stats")):
		n.noteDoubt(strings.TrimSpace(name + " " + cString(strings.ToLower(strings.Join(args, " ")), 128)))
	}
}

// correctCLUSTER answers CLUSTER as a server that does not belong to a cluster does.
func correctCLUSTER(_ *node, c *mserver.Peer, _ string, _ []string) bool {
	return refuse(c, errNoCluster)
}

// missingLibraries are the Lua libraries that scripts have in Redis and not here.
var missingLibraries = []string{"bit", "cmsgpack", "struct"}

// checkLibrary notes a doubt if a script has failed because it uses a library that is
// missing here. answer is the script's reply.
func (n *node) checkLibrary(answer string) {
	for _, name := range missingLibraries {
		if strings.HasPrefix(answer, "-") && strings.Contains(answer, "nonexistent global variable '"+name+"'") {
			n.noteDoubt("a script with the library " + name)
		}
	}
}
