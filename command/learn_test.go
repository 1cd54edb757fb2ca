package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The list of chapters mentions exercises if there are any, and a chapter's name is not mistaken
// for that of an exercise.
func TestLearnMentionsExercises(t *testing.T) {
	learn := func(args ...string) string {
		exercise := &cobra.Command{Use: "new DIR", RunE: func(*cobra.Command, []string) error { return nil }}
		cmd := learnCommand(exercise)
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceUsage = true
		cmd.SetArgs(args)
		if err := cmd.Execute(); err != nil {
			out.WriteString(err.Error())
		}
		return out.String()
	}
	if got := learn(); !strings.Contains(got, "There are exercises, too") {
		t.Errorf("the list does not mention exercises:\n%s", got)
	}
	if got := learn("redlock"); !strings.HasPrefix(got, "7. Redlock\n═") {
		t.Errorf("learn redlock prints %.200s", got)
	}
	if got := learn("now"); !strings.Contains(got, `did you mean "new"?`) {
		t.Errorf("learn now prints %s", got)
	}
}
