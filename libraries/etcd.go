//go:build !js || etcd_on_js

package libraries

// The client of etcd compiles for js only by platforms/js, which has two of its packages
// do without files and sockets.
import _ "github.com/locksim/locksim/libraries/etcd"
