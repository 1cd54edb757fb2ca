package sim_test

import (
	"errors"
	"testing"

	. "github.com/locksim/locksim/internal/testkit/simtest"
	"github.com/locksim/locksim/sim"
)

// A setting that a system does not have, or whose value is invalid, is refused.
func TestSettings(t *testing.T) {
	mill := sim.System{Name: "mill", Node: "oil mill", Settings: []sim.Setting{
		{Name: "wheels", Check: func(value string) error {
			if value != "2" {
				return errors.New("it has two")
			}
			return nil
		}},
		{Name: "wind", Check: func(string) error { return nil }},
	}}
	// By setting: why it is refused; "" if it is allowed.
	for setting, why := range map[string]string{
		"wheels=2":   "",
		"wind=":      "",
		"wind=a=b":   "",
		"wheels=3":   "wheels: it has two",
		"wheels":     `"wheels" is not a setting; write NAME=VALUE`,
		"stones=1":   `an oil mill has no setting "stones": it has wheels, wind`,
		"":           `"" is not a setting; write NAME=VALUE`,
		"Wheels=two": `an oil mill has no setting "Wheels": it has wheels, wind`,
	} {
		got := ""
		if err := mill.CheckSetting(setting); err != nil {
			got = err.Error()
		}
		Equal(t, "the error of the setting "+setting, got, why)
	}
	cfg := sim.Config{Nodes: []sim.Node{{Name: "toy-1", System: "toy", Settings: []string{"wheels=2"}}}}
	var bad *sim.BadNode
	if err := cfg.CheckNodes(); !errors.As(err, &bad) || bad.Field != "settings" || bad.Why != `a toy has no setting "wheels": it has none` {
		t.Errorf("a toy with the setting wheels=2: the error is %v, want a BadNode that says that a toy has no setting", err)
	}
}
