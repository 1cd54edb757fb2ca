package zookeeper

// Hello is the first message of a connection, and Samples are later messages, as a client
// writes them.
var (
	Hello   = hello
	Samples = samples
)
