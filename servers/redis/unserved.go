package redis

import (
	"fmt"
	"slices"
	"strings"

	mserver "github.com/alicebob/miniredis/v2/server"
)

// unserved are the commands that some version of Redis knows and this server does not.
var unserved = strings.Fields(`
	ACL ASKING BGREWRITEAOF BGSAVE BITFIELD BITFIELD_RO BLMPOP CONFIG DEBUG FAILOVER FCALL FCALL_RO FUNCTION GEOHASH
	GEOSEARCHSTORE HEXPIREAT HEXPIRETIME HGETDEL HGETEX HPEXPIRE HPEXPIREAT HPEXPIRETIME LASTSAVE LATENCY LCS LOLWUT
	MIGRATE MODULE MONITOR MSETEX PFDEBUG PFSELFTEST PSYNC REPLCONF REPLICAOF RESET RESTORE-ASKING ROLE SAVE SHUTDOWN
	SLAVEOF SLOWLOG SORT SORT_RO SPUBLISH SSUBSCRIBE SUBSTR SUNSUBSCRIBE SYNC VADD VCARD VDIM VEMB VGETATTR VINFO
	VISMEMBER VLINKS VRANDMEMBER VRANGE VREM VSETATTR VSIM WAITAOF XACKDEL XDELEX XSETID ZDIFF ZDIFFSTORE ZINTERCARD
	ZRANGESTORE ZREVRANGESTORE`)

// unservedKinds are the commands that Redis has beneath a command, and this server has not. CLIENT
// SETINFO and MAINT_NOTIFICATIONS are not among them: clients begin a connection with them, and do
// without the answer.
var unservedKinds = map[string][]string{
	"CLIENT": strings.Fields("CACHING GETREDIR HELP ID INFO KILL LIST NO-EVICT NO-TOUCH PAUSE REPLY TRACKING TRACKINGINFO UNBLOCK UNPAUSE"),
	"MEMORY": strings.Fields("DOCTOR HELP MALLOC-STATS PURGE STATS USAGE"),
	"OBJECT": strings.Fields("ENCODING FREQ HELP IDLETIME REFCOUNT"),
	"PUBSUB": strings.Fields("HELP SHARDCHANNELS SHARDNUMSUB"),
	"SCRIPT": strings.Fields("DEBUG HELP KILL"),
	"XGROUP": strings.Fields("HELP SETID"),
	"XINFO":  strings.Fields("HELP"),
}

// errNoCluster is the answer of every Redis that is no node of a cluster.
const errNoCluster = "ERR This instance has cluster support disabled"

// doubt says that a command was sent which this server cannot answer in any true way.
func (n *node) doubt(command string) {
	n.host.Doubt(fmt.Sprintf("%s was sent %s, which a real Redis server knows and this one does not", n.host.Node().Name, command))
}

// unknown is the error of a command that this server does not know. What has a point in its name
// is a module's, and a real server may have that.
func (n *node) unknown(words []string) string {
	name := strings.ToUpper(words[0])
	switch {
	case name == "READONLY" || name == "READWRITE":
		return errNoCluster
	case slices.Contains(unserved, name) || strings.Contains(name, "."):
		n.doubt(cString(name, 128))
	}
	return unknownCommand(words)
}

// lacks says of a command that this server knows whether it does not know what it is to do.
func (n *node) lacks(name string, args []string) {
	switch kinds := unservedKinds[name]; {
	case kinds != nil && len(args) > 0:
		if kind := strings.ToUpper(args[0]); slices.Contains(kinds, kind) {
			n.doubt(name + " " + kind)
		} else if name == "XINFO" && len(args) > 2 && strings.EqualFold(args[2], "FULL") {
			n.doubt("XINFO " + kind + " with FULL")
		}
	case name == "COMMAND":
		n.doubt(name)
	case name == "INFO" && (len(args) != 1 || !strings.EqualFold(args[0], "clients") && !strings.EqualFold(args[0], "stats")):
		n.doubt(strings.TrimSpace(name + " " + cString(strings.ToLower(strings.Join(args, " ")), 128)))
	}
}

// correctCLUSTER knows that the server is no node of a cluster.
func correctCLUSTER(_ *node, c *mserver.Peer, _ string, _ []string) bool {
	return refuse(c, errNoCluster)
}

// libraries are those that scripts have in Redis and not here.
var libraries = []string{"bit", "cmsgpack", "struct"}

// lacksLibrary looks whether a script has failed because of a library that it does not have here.
func (n *node) lacksLibrary(answer string) {
	for _, name := range libraries {
		if strings.HasPrefix(answer, "-") && strings.Contains(answer, "nonexistent global variable '"+name+"'") {
			n.doubt("a script with the library " + name)
		}
	}
}
