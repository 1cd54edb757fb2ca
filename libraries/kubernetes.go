//go:build !js

package libraries

// The locks on Kubernetes are a module of their own, so that a test of one lock needs no
// other lock library. With them, a page in the browser would be half as large again.
import _ "github.com/locksim/locksim/libraries/kubernetes"
