package explore

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// told is what a scenario file of a way says of it: its title, without the name of the
// lock with which it begins, and its story. Of a file that cannot be read it is nothing.
func told(file []byte, lock string) (title, story string) {
	var says struct{ Title, Story string }
	if yaml.Unmarshal(file, &says) != nil {
		return "", ""
	}
	return strings.TrimPrefix(says.Title, lock+": "), strings.TrimSpace(says.Story)
}
