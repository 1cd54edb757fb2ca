package trackrecord

import _ "github.com/locksim/locksim/libraries"
