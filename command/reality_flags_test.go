package command

import (
	"strings"
	"testing"
)

// A command of a client that is blank is refused.
func TestBlankClient(t *testing.T) {
	f := &realityFlags{client: " ", times: 1}
	f.format = "text"
	if err := f.checkValues(); err == nil || !strings.Contains(err.Error(), "--client is blank") {
		t.Errorf("the error is %v", err)
	}
}
