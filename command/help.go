package command

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locksim/locksim/internal/lazy"
	"github.com/locksim/locksim/internal/textwrap"
)

// helpWidth is the maximum number of columns of the help.
const helpWidth = 100

// fitFlags makes the lists of flags in the usage of all commands at most width columns wide.
// cobra could do so with a template of its own, but the interpreter of text/template looks up
// methods by name, so that the linker would keep every exported method of the program.
func fitFlags(root *cobra.Command, width int) {
	write := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		var usage bytes.Buffer
		cmd.SetOut(&usage)
		err := write(cmd)
		cmd.SetOut(out)
		text := usage.String()
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			list, narrow := strings.TrimSpace(flags.FlagUsages()), strings.TrimSpace(flags.FlagUsagesWrapped(width))
			text = strings.Replace(text, list, narrow, 1)
		}
		io.WriteString(out, text) //nolint:errcheck // stdout remembers its errors
		return err
	})
}

// fitHelp makes the help of all commands as wide as a terminal of this width, at most helpWidth
// columns. If the width is 0, which means that it is not known, the lines stay as they were
// written.
func fitHelp(root *cobra.Command, stdout io.Writer, width int) {
	if width == 0 {
		return
	}
	width = min(width, helpWidth)
	print := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var text bytes.Buffer
		cmd.SetOut(&text)
		print(cmd, args)
		cmd.SetOut(stdout)
		io.WriteString(stdout, wrapHelp(text.String(), width)) //nolint:errcheck // stdout remembers its errors
	})
}

// listItem matches the beginning of a line with two columns: the indent and the first
// column.
var listItem = lazy.Regexp(`^\s+\S+\s{2,}`)

// wrapHelp breaks the lines of a help. It fills paragraphs anew. A long line of a list keeps
// its columns. An example stays whole, so that it can be copied.
func wrapHelp(text string, width int) string {
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			b.WriteString(textwrap.Wrap(strings.Join(paragraph, " "), width, 0) + "\n")
		}
		paragraph = nil
	}
	isExample := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		isIndented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if !isIndented && line != "" && !strings.HasSuffix(line, ":") {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		switch {
		case line != "" && !isIndented:
			isExample = line == "Examples:" || line == "Usage:"
			b.WriteString(textwrap.Wrap(line, width, 0) + "\n")
		case isExample || utf8.RuneCountInString(line) <= width:
			b.WriteString(line + "\n")
		default:
			head := listItem().FindString(line)
			if head == "" {
				head = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
			}
			indent := utf8.RuneCountInString(head)
			wrapped := textwrap.Wrap(line[len(head):], width-indent, 0)
			b.WriteString(head + strings.ReplaceAll(wrapped, "\n", "\n"+strings.Repeat(" ", indent)) + "\n")
		}
	}
	flush()
	return b.String()
}
