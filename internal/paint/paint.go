// Package paint colours text for a terminal.
package paint

// Text encloses a text in the sequences that begin and end a colour. The colour is a parameter
// of the escape sequence, such as "32"; "" leaves the text as it is.
func Text(colour, text string) string {
	if colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
