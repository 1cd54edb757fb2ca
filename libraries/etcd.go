//go:build !js

package libraries

// The client of etcd does not compile for js: its packages fileutil and journal use files
// and sockets that are not there.
import _ "github.com/locksim/locksim/libraries/etcd"
