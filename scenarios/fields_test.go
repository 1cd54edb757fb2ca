package scenarios

import (
	"testing"

	"gopkg.in/yaml.v3"
)

// isPlain is right about the words for which it returns true: the YAML encoder also writes
// them without quotes, and they are read as the same words.
func TestIsPlain(t *testing.T) {
	plain := 0
	for _, word := range []string{
		"client-1", "redis-12", "power-loss", "pause", "from", "by", "e5", "x0f", "inf", "nan", "yes-no", "a-",
		"", "-", "y", "n", "yes", "no", "on", "off", "true", "false", "null", "No", "30s", "1m30s", "28.5s", "2h", "1e5s", "1e5", "0x1f", "1:30", "2026-01-02", "-1", "1-s", "a.b", "a b", "a:", "#a", "~", ".inf",
	} {
		byYAML := &yaml.Node{}
		if err := byYAML.Encode(word); err != nil {
			t.Fatal(err)
		}
		want, err := yaml.Marshal(byYAML)
		if err != nil {
			t.Fatal(err)
		}
		got, err := yaml.Marshal(valueNode(word))
		if err != nil || string(got) != string(want) {
			t.Errorf("%q is written as %q (%v), want %q as by the YAML encoder", word, got, err, want)
		}
		var read any
		if err := yaml.Unmarshal(got, &read); err != nil || read != word {
			t.Errorf("the written word %q is read as %v (%v)", word, read, err)
		}
		if isPlain(word) {
			plain++
		}
	}
	if plain != 17 {
		t.Errorf("%d of the words are plain, want 17", plain)
	}
}
