package zookeeper

// Hello returns the first message of a connection, and Samples returns later messages, as a
// client writes them.
var (
	Hello   = hello
	Samples = samples
)
