package sim

import (
	"fmt"
	"slices"
	"strings"
)

// A Setting is something that can be configured on the nodes of a system, such as with a
// flag of a server's command line.
type Setting struct {
	Name string
	// Title is one line for people, which says what the setting does and the unit of its
	// value.
	Title string
	// Check returns an error if a value makes no sense.
	Check func(value string) error
}

// SettingValue returns the value of a setting on the node; "" means the default.
func (h *Host) SettingValue(name string) string {
	for _, s := range h.cfg.Settings {
		if n, value, _ := strings.Cut(s, "="); n == name {
			return value
		}
	}
	return ""
}

// CheckSetting checks a setting in the form NAME=VALUE. It returns an error if the system's
// nodes do not have that setting, or if the value is invalid.
func (s System) CheckSetting(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("%q is not a setting; write NAME=VALUE", text)
	}
	i := slices.IndexFunc(s.Settings, func(o Setting) bool { return o.Name == name })
	if i < 0 {
		return fmt.Errorf("%s %s has no setting %q: it has %s", article(s.Node), s.Node, name, listOr("none", s.Settings, func(o Setting) string { return o.Name }))
	}
	if err := s.Settings[i].Check(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// checkSettings returns a [BadNode] if a setting of a node is wrong, or set twice.
func (s System) checkSettings(n Node) error {
	for i, text := range n.Settings {
		if err := s.CheckSetting(text); err != nil {
			return &BadNode{n.Name, "settings", err.Error()}
		}
		name, _, _ := strings.Cut(text, "=")
		if slices.ContainsFunc(n.Settings[:i], func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			return &BadNode{n.Name, "settings", fmt.Sprintf("%s is set twice", name)}
		}
	}
	return nil
}
