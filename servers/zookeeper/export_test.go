package zookeeper

// Hello and Samples are messages as clients write them.
var (
	Hello   = hello
	Samples = samples
)
