package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// mostApart is in how many places it is said that two records differ.
const mostApart = 12

// apart says where two JSON documents differ, a line for each place.
func apart(was, is json.RawMessage) []string {
	a, errA := decoded(was)
	b, errB := decoded(is)
	if errA != nil || errB != nil {
		return []string{"the records are no JSON"}
	}
	lines := places("", a, b)
	if n := len(lines); n > mostApart {
		lines = append(lines[:mostApart], fmt.Sprintf("and in %d more places", n-mostApart))
	}
	return lines
}

func decoded(text json.RawMessage) (value any, err error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	err = in.Decode(&value)
	return value, err
}

// places are those at which two values differ that are at the same place.
func places(at string, was, is any) []string {
	switch a := was.(type) {
	case map[string]any:
		if b, ok := is.(map[string]any); ok {
			return memberPlaces(at, a, b)
		}
	case []any:
		if b, ok := is.([]any); ok {
			return listPlaces(at, a, b)
		}
	}
	if text(was) == text(is) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s → %s", at, text(was), text(is))}
}

func memberPlaces(at string, a, b map[string]any) (lines []string) {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		place := name
		if at != "" {
			place = at + "." + name
		}
		x, before := a[name]
		y, after := b[name]
		switch {
		case !before:
			lines = append(lines, fmt.Sprintf("%s: new, %s", place, text(y)))
		case !after:
			lines = append(lines, fmt.Sprintf("%s: gone, it was %s", place, text(x)))
		default:
			lines = append(lines, places(place, x, y)...)
		}
	}
	return lines
}

func listPlaces(at string, a, b []any) (lines []string) {
	if len(a) != len(b) {
		lines = append(lines, fmt.Sprintf("%s: %d entries → %d", at, len(a), len(b)))
	}
	for i := range min(len(a), len(b)) {
		lines = append(lines, places(fmt.Sprintf("%s[%d]", at, i), a[i], b[i])...)
	}
	return lines
}

// text is a value in JSON, not longer than a line.
func text(value any) string {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(value); err != nil {
		return err.Error()
	}
	return shortened(string(bytes.TrimSpace(b.Bytes())))
}
