package redis

import (
	"fmt"
	"slices"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// unserved are the commands that some version of Redis has and this server does not.
var unserved = strings.Fields(`
	ACL ASKING BGREWRITEAOF BGSAVE BITFIELD BITFIELD_RO BLMPOP CONFIG DEBUG FAILOVER FCALL FCALL_RO FUNCTION GEOHASH
	GEOSEARCHSTORE HEXPIREAT HEXPIRETIME HGETDEL HGETEX HPEXPIRE HPEXPIREAT HPEXPIRETIME LASTSAVE LATENCY LCS LOLWUT
	MIGRATE MODULE MONITOR MSETEX PFDEBUG PFSELFTEST PSYNC REPLCONF REPLICAOF RESET RESTORE-ASKING ROLE SAVE SHUTDOWN
	SLAVEOF SLOWLOG SORT SORT_RO SPUBLISH SSUBSCRIBE SUBSTR SUNSUBSCRIBE SYNC VADD VCARD VDIM VEMB VGETATTR VINFO
	VISMEMBER VLINKS VRANDMEMBER VRANGE VREM VSETATTR VSIM WAITAOF XACKDEL XDELEX XSETID ZDIFF ZDIFFSTORE ZINTERCARD
	ZRANGESTORE ZREVRANGESTORE`)

// unservedSubcommands are the subcommands that Redis has and this server does not, by
// command. CLIENT SETINFO and MAINT_NOTIFICATIONS are not listed: clients begin a
// connection with them, and do not need the answer.
var unservedSubcommands = map[string][]string{
	"CLIENT": strings.Fields("CACHING GETREDIR HELP ID INFO KILL LIST NO-EVICT NO-TOUCH PAUSE REPLY TRACKING TRACKINGINFO UNBLOCK UNPAUSE"),
	"MEMORY": strings.Fields("DOCTOR HELP MALLOC-STATS PURGE STATS USAGE"),
	"OBJECT": strings.Fields("ENCODING FREQ HELP IDLETIME REFCOUNT"),
	"PUBSUB": strings.Fields("HELP SHARDCHANNELS SHARDNUMSUB"),
	"SCRIPT": strings.Fields("DEBUG HELP KILL"),
	"XGROUP": strings.Fields("HELP SETID"),
	"XINFO":  strings.Fields("HELP"),
}

// errNoCluster is the answer of every Redis that is not a node of a cluster.
const errNoCluster = "ERR This instance has cluster support disabled"

// noteDoubt makes the run inconclusive: a command was sent that this server cannot answer
// as a real one would.
func (n *node) noteDoubt(command string) {
	n.host.Doubt(fmt.Sprintf("%s was sent %s, which a real Redis server knows and this one does not", n.host.Node().Name, command))
}

// refuseUnknown returns the error for a command that this server does not have. A command
// with a dot in its name belongs to a module, which a real server may have.
func (n *node) refuseUnknown(words []string) string {
	name := strings.ToUpper(words[0])
	switch {
	case name == "READONLY" || name == "READWRITE":
		return errNoCluster
	case slices.Contains(unserved, name) || strings.Contains(name, "."):
		n.noteDoubt(cString(name, 128))
	}
	return unknownCommand(words)
}

// checkUnserved notes a doubt if this server has the command but not this use of it.
func (n *node) checkUnserved(name string, args []string) {
	switch kinds := unservedSubcommands[name]; {
	case kinds != nil && len(args) > 0:
		if kind := strings.ToUpper(args[0]); slices.Contains(kinds, kind) {
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

// correctCLUSTER answers that the server is not a node of a cluster.
func correctCLUSTER(_ *node, c *mserver.Peer, _ string, _ []string) bool {
	return refuse(c, errNoCluster)
}

// libraries are those that scripts have in Redis and not here.
var libraries = []string{"bit", "cmsgpack", "struct"}

// checkLibrary notes a doubt if a script has failed because it needs a library that is
// missing here.
func (n *node) checkLibrary(answer string) {
	for _, name := range libraries {
		if strings.HasPrefix(answer, "-") && strings.Contains(answer, "nonexistent global variable '"+name+"'") {
			n.noteDoubt("a script with the library " + name)
		}
	}
}
