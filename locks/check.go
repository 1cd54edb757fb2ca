package locks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/fakeclock"
)

// Check returns an error if the options are wrong for a lock of this kind: an option that
// the kind does not understand, an impossible value, or a feature that the kind does not
// have. The error names the setting and lists what the kind has instead.
func (k Kind) Check(o Options) error {
	settings := []struct {
		option string
		isSet  bool
	}{
		{"ask", o.Ask != ""},
		{"clock", o.Clock != ""},
		{"expects", o.Expects != 0},
		{"failures", o.Failures != 0},
		{"fallback", o.Fallback != ""},
		{"node-timeout", o.NodeTimeout != 0},
		{"open-for", o.OpenFor != 0},
		{"holders", o.Holders != 0},
	}
	for _, s := range settings {
		if s.isSet && !slices.Contains(k.Accepts, s.option) {
			return fmt.Errorf("lock %s has no option %q: %s", k.Name, s.option, listNames("options", k.Accepts))
		}
	}
	if err := checkOneOf("ask", string(o.Ask), string(OneByOne), string(AllAtOnce)); err != nil {
		return err
	}
	if err := checkOneOf("clock", string(o.Clock), string(fakeclock.Wall), string(fakeclock.Monotonic)); err != nil {
		return err
	}
	if err := checkOneOf("fallback", string(o.Fallback), string(Refuse), string(GoAhead), string(Local)); err != nil {
		return err
	}
	if o.NodeTimeout < 0 {
		return fmt.Errorf("option node-timeout is %v: it must be positive, or left out for the default of lock %s", o.NodeTimeout, k.Name)
	}
	if o.Expects < 0 {
		return fmt.Errorf("option expects is %v: it must be positive, or left out if the duration is unknown", o.Expects)
	}
	if o.Failures < 0 {
		return fmt.Errorf("option failures is %d: it must be positive, or left out for the default of lock %s", o.Failures, k.Name)
	}
	if o.OpenFor < 0 {
		return fmt.Errorf("option open-for is %v: it must be positive, or left out for the default of lock %s", o.OpenFor, k.Name)
	}
	if o.Holders < 0 {
		return fmt.Errorf("option holders is %d: it must be positive, or left out for one", o.Holders)
	}
	for i, feature := range o.Without {
		if !slices.Contains(k.Features, feature) {
			return fmt.Errorf("lock %s has no feature %q to turn off: %s",
				k.Name, feature, listNames("features", k.Features))
		}
		if slices.Contains(o.Without[:i], feature) {
			return fmt.Errorf("feature %q is turned off twice: remove one", feature)
		}
	}
	if o.NodeTimeout > 0 && !o.Has("node-timeout") {
		return fmt.Errorf("option node-timeout is %v, but the feature \"node-timeout\" is turned off: leave one of the two out", o.NodeTimeout)
	}
	return nil
}

// listNames lists the options or features of a kind for an error message.
func listNames(what string, names []string) string {
	if len(names) == 0 {
		return "it has no " + what
	}
	return "its " + what + " are " + strings.Join(names, ", ")
}

// checkOneOf returns an error if the value of an option is neither empty nor known.
func checkOneOf(option, value string, known ...string) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("option %s is %q: it must be %s", option, value, strings.Join(known, " or "))
}
