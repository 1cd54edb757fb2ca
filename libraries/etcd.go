//go:build !js || etcd_on_js

package libraries

// The locks on etcd are left out for js, where the client of etcd does not compile. A build
// with the tag etcd_on_js, as made by platforms/js, replaces the use of files and sockets
// in two of the client's packages.
import _ "github.com/locksim/locksim/libraries/etcd"
