package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/locksim/locksim/reports"
)

// serveFlags are the flags of the serve command.
type serveFlags struct {
	siteFlags
	port int
}

// defaultPort is the port of the site. A browser keeps the reader's progress for each port, so the
// site uses the same port each time.
const defaultPort = 7250

func serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show a site in the browser, to this machine only",
		Long: `Show the site in a folder that locksim site has made. Without a folder, make the site
first, which takes a minute, and remove it at the end. Only this machine can open the
site. It needs no network. Ctrl-C ends the command.`,
		Example: `  locksim serve
  locksim serve public/ --port 8080`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("locksim serve: name one folder, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.define(cmd)
	cmd.Flags().IntVar(&f.port, "port", defaultPort, "the `port` on this machine; 0 takes any that is free")
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command, args []string) error {
	if f.port < 0 || f.port > 65535 {
		return fmt.Errorf("locksim serve: --port is %d; give a number from 0 to 65535", f.port)
	}
	dir := ""
	switch {
	case len(args) == 1 && args[0] == "":
		return errors.New("locksim serve: the name of the folder is empty")
	case len(args) == 1:
		for _, flag := range []string{"playground", "seeds"} {
			if cmd.Flags().Changed(flag) {
				return fmt.Errorf("locksim serve: --%s is for a new site, and %s is one already; leave one of them out", flag, args[0])
			}
		}
		dir = args[0]
		if _, err := os.Stat(filepath.Join(dir, reports.FrontPage)); err != nil {
			return fmt.Errorf("locksim serve: %s is no folder with a site, because it has no %s; locksim site OUT/ makes one", dir, reports.FrontPage)
		}
	default:
		if err := f.check(); err != nil {
			return err
		}
	}
	// The port is taken first: if it is in use, the minute that it takes to make the site is not
	// wasted.
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)))
	if err != nil {
		return failure{unexpected, fmt.Errorf("locksim serve: port %d cannot be used: %w; choose another with --port", f.port, systemError(err))}
	}
	defer listener.Close()
	if dir == "" {
		scratch, err := os.MkdirTemp("", "locksim-site-")
		if err != nil {
			return failure{unexpected, fmt.Errorf("locksim serve: %w", systemError(err))}
		}
		defer os.RemoveAll(scratch)
		dir = filepath.Join(scratch, "made")
		stop := removeOnInterrupt(scratch)
		_, err = f.make(cmd.ErrOrStderr(), dir)
		stop()
		if err != nil {
			return failure{unexpected, err}
		}
	}
	ended, _, stop := notifyInterrupts(func() {})
	defer stop()
	if err := printLine(cmd.OutOrStdout(), "http://%s/", listener.Addr()); err != nil {
		return err
	}
	printLine(cmd.ErrOrStderr(), "Only this machine can open it. Ctrl-C ends it.")
	server := &http.Server{Handler: siteHandler(dir), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ended, func() { server.Close() })
	if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) && ended.Err() == nil {
		return failure{unexpected, fmt.Errorf("locksim serve: %w", err)}
	}
	return nil
}

// siteHandler returns a handler that serves the files of a folder. It makes browsers ask again
// for each file, because the folder can contain a new site by then.
func siteHandler(dir string) http.Handler {
	files := http.FileServer(http.Dir(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		files.ServeHTTP(w, r)
	})
}
