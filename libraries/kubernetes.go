//go:build !js

package libraries

// The locks on Kubernetes are a module of their own, so that whoever tests one needs no other
// lock library. A page in the browser would be half as large again with them.
import _ "github.com/locksim/locksim/libraries/kubernetes"
