package libraries

// The locks on ZooKeeper are a module of their own, so that a test of one lock need not
// download the other lock libraries.
import _ "github.com/locksim/locksim/libraries/zookeeper"
