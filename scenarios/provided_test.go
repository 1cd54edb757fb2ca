package scenarios

import _ "github.com/locksim/locksim/libraries"
