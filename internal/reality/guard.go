package reality

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// A guard is a process that outlives the harness by a moment. When the harness ends, in
// whatever way, the guard kills all children that are left and removes their folder.
type guard struct {
	mu     sync.Mutex
	orders io.WriteCloser
	cmd    *exec.Cmd
}

// startGuard starts the guard. command is a command that calls [Guard], and folder is the
// folder to remove at the end.
func startGuard(command *exec.Cmd, folder string) (*guard, error) {
	ownGroup(command)
	command.SysProcAttr = withoutParentDeath(command.SysProcAttr)
	orders, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	command.Stderr = nil
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the process that cleans up: %w", err)
	}
	g := &guard{orders: orders, cmd: command}
	return g, g.order("folder %s", folder)
}

// watch makes the guard kill a process group at the end. It fails if the guard has ended.
func (g *guard) watch(leader int) error { return g.order("watch %d", leader) }

// forget makes the guard leave a process group alone, because it has ended.
func (g *guard) forget(leader int) { _ = g.order("forget %d", leader) }

func (g *guard) order(format string, args ...any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := fmt.Fprintf(g.orders, format+"\n", args...); err != nil {
		return fmt.Errorf("the process that cleans up has ended: %w", err)
	}
	return nil
}

// close makes the guard clean up, and waits until it has.
func (g *guard) close() {
	g.orders.Close()
	_ = g.cmd.Wait()
}

// Guard makes this process a guard. It reads the orders of [guard] from in, and cleans up when
// in ends.
func Guard(in io.Reader) {
	leaders := map[int]bool{}
	var folder string
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		var leader int
		switch verb {
		case "folder":
			folder = rest
		case "watch", "forget":
			if _, err := fmt.Sscan(rest, &leader); err == nil && leader > 1 {
				leaders[leader] = verb == "watch"
			}
		}
	}
	for leader, isLeft := range leaders {
		if isLeft {
			killGroup(leader)
		}
		removeClocks(leader)
	}
	if strings.Contains(folder, folderPrefix) {
		for range 20 { // a process that was just killed may still write
			if os.RemoveAll(folder) == nil {
				return
			}
		}
	}
}

// folderPrefix begins the name of the folder that a run has for its servers.
const folderPrefix = "locksim-reality-"
