//go:build !js || etcd_on_js

package libraries

// The client of etcd compiles for js only by platforms/js, which replaces the use of files
// and sockets in two of its packages.
import _ "github.com/locksim/locksim/libraries/etcd"
