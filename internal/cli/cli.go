// Package cli is the command robospec: its subcommands, what they print and
// how they exit. Each subcommand is in a file of its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports/dial"
)

// Exit codes of robospec. A shell script tells from them a verdict from a
// command that was misused.
const (
	Pass         = 0 // done, or what was expected holds
	Fail         = 1 // an error, or what was expected does not hold
	Misuse       = 2 // the command line is wrong; nothing was done
	Inconclusive = 3 // what was expected could not be judged
)

// Main runs robospec with its arguments, the program's name not among them, and
// returns its exit code. ctx ends it early, as Ctrl-C does.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return run(ctx, args, stdout, stderr, dial.Open)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, open opener) int {
	root := &cobra.Command{
		Use:           "robospec",
		Short:         "Test harness and assertions for robot systems",
		SilenceErrors: true, // printed below, once
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          chooseOne,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.AddCommand( // each in a file of its own
		topicCommand(open),
		serviceCommand(open),
		nodeCommand(open),
		genCommand(),
	)

	running := false // else the error is one of the command line
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
			return err
		}
		running = true
		return nil
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return Pass
	}
	if _, ok := errors.AsType[*misuse](err); ok || !running {
		fmt.Fprintf(stderr, "%s: %v\nRun '%s --help' for what there is.\n", cmd.CommandPath(), err, cmd.CommandPath())
		return Misuse
	}
	fmt.Fprintf(stderr, "%s: %v\n", cmd.CommandPath(), err)
	if _, ok := errors.AsType[*measure.Inconclusive](err); ok {
		return Inconclusive
	}
	return Fail
}

// misuse is a command line that cannot be followed; robospec exits with Misuse.
// A subcommand returns a *measure.Inconclusive for Inconclusive and any other
// error for Fail.
type misuse struct{ reason string }

func (m *misuse) Error() string { return m.reason }

func misusef(format string, args ...any) error {
	return &misuse{reason: fmt.Sprintf(format, args...)}
}

// group is a command that only holds others, such as "robospec topic".
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: chooseOne}
	c.AddCommand(commands...)
	return c
}

// chooseOne answers a group without a subcommand. Cobra by itself prints the
// help and passes, so that a script with a typing error passes as well.
func chooseOne(cmd *cobra.Command, _ []string) error {
	return misusef("a subcommand is missing")
}
