//go:build !js || etcd_on_js

package systems

// The client of etcd compiles for js only with the help of platforms/js.
import _ "github.com/locksim/locksim/libraries/etcd"
