package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/internal/story"
	"github.com/locksim/locksim/scenarios"
)

func newScenarioCommand() *cobra.Command {
	from := ""
	cmd := &cobra.Command{
		Use:   "scenario FILE --from NAME",
		Short: "Write a copy of a scenario into a file, to change it",
		Long: `Write a copy of a scenario into a new file, to change it. It is the text that
locksim show prints, with a comment at its beginning. The command replaces no file.`,
		Example: `  locksim new scenario mine.yaml --from gc-pause
  locksim run mine.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s: name the file to write, such as %s mine.yaml --from gc-pause", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := copyScenario(args[0], from)
			if err != nil {
				return err
			}
			if err := writeNewFile(args[0], []byte(text)); err != nil {
				return failure{unexpected, fmt.Errorf("locksim new scenario: %w", err)}
			}
			name := story.ShellWord(args[0])
			if err := printLine(cmd.OutOrStdout(), "wrote %s, a copy of %s", args[0], from); err != nil {
				return outputError(err)
			}
			return outputError(printLine(cmd.OutOrStdout(), "next: change it, and then: locksim validate %s && locksim run %s", name, name))
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the `scenario` to copy: the name of a built-in one, or a file")
	completeWith(cmd, "from", func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeScenarios(cmd, nil, typed)
	})
	return cmd
}

// copyScenario returns the text of a copy of a scenario. It fails if the copy cannot be
// written to the file.
func copyScenario(file, from string) (string, error) {
	const command = "locksim new scenario"
	switch {
	case from == "":
		return "", fmt.Errorf("%s: name the scenario to copy, as in --from gc-pause; `locksim list` shows the built-in scenarios", command)
	case !isYAML(file):
		return "", fmt.Errorf("%s: a scenario file ends in .yaml or .yml, and %s does not; name it %s", command, file, strings.TrimSuffix(file, filepath.Ext(file))+".yaml")
	}
	found, err := loadSingle("new scenario", from)
	if err != nil {
		return "", err
	}
	switch _, err := os.Lstat(file); {
	case err == nil:
		return "", fmt.Errorf("%s: %s already exists; name another file", command, file)
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: %s: %w", command, file, systemError(err))
	}
	if dir := filepath.Dir(file); !isPath(dir) {
		return "", fmt.Errorf("%s: there is no directory %s; make it first", command, dir)
	}
	text := copyHeader(from) + withoutSchema(found.Text)
	_, err = scenarios.Parse(filepath.ToSlash(file), []byte(text))
	return text, err
}

// copyHeader returns the comment at the beginning of a copy.
func copyHeader(from string) string {
	return fmt.Sprintf("# A copy of the scenario %s. Its witnesses, and what it expects, belong to the original: if you change\n# what happens, change or remove them too. For an editor that completes the fields, run\n# locksim schema > schema.json, and begin the file with the line\n# # yaml-language-server: $schema=schema.json\n", story.Visible(from))
}

// withoutSchema returns the text of a scenario without the comment that says where its
// schema is, because the schema is not beside the copy.
func withoutSchema(text string) string {
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "# yaml-language-server:") {
		return rest
	}
	return text
}

// writeNewFile writes a file that does not exist yet. If it fails, it leaves no file behind.
func writeNewFile(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("%s: %w", name, systemError(err))
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("%s: %w", name, systemError(err))
	}
	return nil
}
