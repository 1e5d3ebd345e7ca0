// Command robospec is the command line of robospec; its work is in
// internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/robospec/robospec/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A reader that has gone, as that of | head, is for the command to take note of.
	signal.Ignore(syscall.SIGPIPE)
	return cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
