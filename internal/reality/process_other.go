//go:build !unix

package reality

import (
	"os/exec"
	"syscall"
)

// unsupported says why this operating system cannot play a scenario.
const unsupported = "it needs signals that stop a process and let it continue, which this operating system does not have; use Linux or macOS"

func ownGroup(*exec.Cmd)                                                {}
func stopGroup(int)                                                     {}
func continueGroup(int)                                                 {}
func killGroup(int)                                                     {}
func shutDown(int)                                                      {}
func shutDownFast(int)                                                  {}
func withoutParentDeath(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }

func giveToServer(string) error { return nil }
func runAsServer(*exec.Cmd)     {}
