package explore

import "testing"

func TestTold(t *testing.T) {
	const file = `# Found by locksim explore --lock mine.
title: 'mine: client-1 pauses, and "nothing" is lost'
story: >
  client-1 pauses.
  client-2 waits: so it goes.
lock: {kind: mine, ttl: 30s}
`
	for _, c := range []struct{ name, file, lock, title, story string }{
		{"a file", file, "mine", `client-1 pauses, and "nothing" is lost`, "client-1 pauses. client-2 waits: so it goes."},
		{"of another lock", file, "other", `mine: client-1 pauses, and "nothing" is lost`, "client-1 pauses. client-2 waits: so it goes."},
		{"without a story", "title: 'mine: it ends in a hang'\n", "mine", "it ends in a hang", ""},
		{"no file", "", "mine", "", ""},
		{"no YAML", "title: [", "mine", "", ""},
	} {
		if title, story := told([]byte(c.file), c.lock); title != c.title || story != c.story {
			t.Errorf("%s: got %q and %q, want %q and %q", c.name, title, story, c.title, c.story)
		}
	}
}
