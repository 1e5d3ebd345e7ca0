package testenv

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds each wait for a real peer. Only a failing test waits so long.
const patience = 20 * time.Second

// Process is a real peer that speaks with the test in lines.
type Process struct {
	tb    testing.TB
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string

	mu     sync.Mutex
	stderr strings.Builder
	wrote  chan struct{} // closed at the next write to it
	reap   func() error
}

// StartPython runs a Python script that can import zenoh, given as its text.
// The script has to end when its standard input does, as
// "for line in sys.stdin" does.
func StartPython(tb testing.TB, script string, args ...string) *Process {
	tb.Helper()
	return start(tb, Python(tb), append([]string{"-u", "-c", script}, args...)...)
}

func start(tb testing.TB, name string, args ...string) *Process {
	tb.Helper()
	p := &Process{tb: tb, cmd: exec.Command(name, args...), lines: make(chan string, 1<<16), wrote: make(chan struct{})}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		tb.Fatalf("testenv: %v", err)
	}
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatalf("testenv: %v", err)
	}
	p.cmd.Stderr = (*stderrOf)(p)
	if err := p.cmd.Start(); err != nil {
		tb.Fatalf("testenv: start %s: %v", name, err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(p.lines)
		in := bufio.NewScanner(stdout)
		in.Buffer(nil, 1<<24) // a message in JSON may have megabytes
		for in.Scan() {
			p.lines <- in.Text()
		}
	})
	p.reap = sync.OnceValue(func() error {
		reading.Wait()
		return p.cmd.Wait()
	})
	tb.Cleanup(p.stop)
	return p
}

type stderrOf Process

func (p *stderrOf) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.wrote)
	p.wrote = make(chan struct{})
	return p.stderr.Write(b)
}

// Stderr is what it printed to its standard error so far.
func (p *Process) Stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// Complains returns when its standard error has the text. The test fails when
// that takes 20 s.
func (p *Process) Complains(text string) {
	p.tb.Helper()
	patient := time.NewTimer(patience)
	defer patient.Stop()
	for {
		p.mu.Lock()
		said, wrote := p.stderr.String(), p.wrote
		p.mu.Unlock()
		if strings.Contains(said, text) {
			return
		}
		select {
		case <-wrote:
		case <-patient.C:
			p.tb.Fatalf("testenv: process %d did not print %q to its stderr within %v:\n%s", p.PID(), text, patience, said)
		}
	}
}

// Line is the next line of its standard output. The test fails when none comes
// within 20 s or the process ended.
func (p *Process) Line() string {
	p.tb.Helper()
	patient := time.NewTimer(patience)
	defer patient.Stop()
	select {
	case s, ok := <-p.lines:
		if !ok {
			p.tb.Fatalf("testenv: process %d ended without the line waited for; its stderr:\n%s", p.PID(), p.Stderr())
		}
		return s
	case <-patient.C:
		p.tb.Fatalf("testenv: process %d printed no line within %v; its stderr:\n%s", p.PID(), patience, p.Stderr())
	}
	return ""
}

// Send writes a line to its standard input.
func (p *Process) Send(line string) {
	p.tb.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		p.tb.Fatalf("testenv: write to process %d: %v; its stderr:\n%s", p.PID(), err, p.Stderr())
	}
}

// PID is its process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill is kill -9; it returns when the process is gone.
func (p *Process) Kill() {
	p.signal(os.Kill)
	_ = p.reap() // "signal: killed" is what was asked for
}

// Pause stops it as a debugger would, with SIGSTOP; it returns when the process
// stands still.
func (p *Process) Pause() {
	p.tb.Helper()
	p.signal(syscall.SIGSTOP)
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.PID(), &status, syscall.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || !status.Stopped() {
			p.tb.Errorf("testenv: process %d did not stop: status %#x, %v", p.PID(), status, err)
		}
		return
	}
}

// Resume lets a paused process go on.
func (p *Process) Resume() { p.signal(syscall.SIGCONT) }

func (p *Process) signal(s os.Signal) {
	p.tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.tb.Errorf("testenv: signal %v to process %d: %v", s, p.PID(), err)
	}
}

// stop ends it the friendly way and, when it does not follow, with SIGKILL.
func (p *Process) stop() {
	_ = p.stdin.Close() // it may have ended by itself
	gone := make(chan struct{})
	go func() { _ = p.reap(); close(gone) }() // a killed one has an error, and no test asks
	_ = p.cmd.Process.Signal(syscall.SIGCONT) // nothing to one that runs or is gone
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill() // gone meanwhile is as good
		<-gone
	}
	if p.tb.Failed() && p.Stderr() != "" {
		p.tb.Logf("testenv: stderr of process %d:\n%s", p.PID(), p.Stderr())
	}
}
