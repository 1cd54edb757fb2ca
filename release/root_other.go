//go:build !linux

package main

import "os/exec"

// changesRoot returns false, and changes nothing. A released program can run under another
// root folder only on Linux, because it needs system files elsewhere.
func changesRoot(*exec.Cmd, string) bool { return false }
