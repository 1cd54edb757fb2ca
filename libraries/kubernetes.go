//go:build !js

package libraries

// The locks on Kubernetes are a module of their own, so that a test of one lock need not
// download the other lock libraries. They are left out for js, because they would make a
// page in the browser 50 % larger.
import _ "github.com/locksim/locksim/libraries/kubernetes"
