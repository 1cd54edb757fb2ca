package whatif

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/scenarios"
)

// PauseIn returns the path of the only fault that is a pause. In each variant it must be the
// same fault.
func PauseIn(s *scenarios.Scenario) (string, error) {
	hint := "set another value with --set"
	if len(s.Variants) > 1 {
		hint = "choose another variant with --variant, or set another value with --set"
	}
	found := ""
	for _, v := range s.Variants {
		var pauses []string
		for _, setting := range v.Settings() {
			if fault, isPause := strings.CutSuffix(setting.Path, ".pause"); isPause {
				pauses = append(pauses, fault)
			}
		}
		in := s.Name
		if v.Name != "" {
			in += ", variant " + v.Name
		}
		switch {
		case len(pauses) == 0:
			return "", fmt.Errorf("no fault of %s is a pause; %s", in, hint)
		case len(pauses) > 1:
			return "", fmt.Errorf("%s are pauses in %s; say which, as in --set '%s.for=20s'", strings.Join(pauses, " and "), in, pauses[0])
		case found != "" && found != pauses[0]:
			return "", fmt.Errorf("the pause of %s is %s, and in another variant it is %s; choose a variant with --variant", in, pauses[0], found)
		}
		found = pauses[0]
	}
	return found, nil
}
