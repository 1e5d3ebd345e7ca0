package cases_test

import (
	"context"
	"os/exec"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
	. "github.com/robospec/robospec/matchers"
)

// talks: a process prints given lines in this order; on SIGTERM it ends with
// code 0 and says so on standard error.
func talks(program string, args ...string) spec {
	return func(_ context.Context, rig *fixtures.Rig) {
		talker := fixtures.Process(rig, exec.Command(program, args...))
		Expect(talker.Stdout()).To(Within(5*time.Second, InOrder("Publishing: 'Hello World: 1'", "Publishing: 'Hello World: 2'")))
		talker.Signal(syscall.SIGTERM)
		Expect(talker).To(ExitWithin(2*time.Second, 0))
		Expect(talker.Stderr().FromStart()).To(ReceiveWithin(time.Second, ContainSubstring("shutting down")))
	}
}

var _ = DescribeTable("a talker", func(want verdict, args ...string) {
	onProcess(want, talks("python3", append([]string{"testdata/talker.py"}, args...)...))
},
	Entry("that is good", passes()),
	Entry("that begins in the wrong order",
		fails(`python3 stdout`, `within 5s to show InOrder`, `found: .*2 messages, 1 of 2 in order, then none that matched = "Publishing: 'Hello World: 2'"`),
		"--first", "2", "1", "--lines", "2"),
	Entry("that exits with code 1",
		fails(`process python3`, `to exit within 2s with code 0`, `found: .*it exited with code 1`, `counted from: .*SIGTERM to process python3`), "--code", "1"),
	Entry("that ignores SIGTERM",
		fails(`process python3`, `to exit within 2s with code 0`, `found: .*it had not ended`), "--sigterm", "ignored"),
	Entry("that is killed by SIGTERM",
		fails(`process python3`, `to exit within 2s with code 0`, `found: .*it exited with code -15`), "--sigterm", "kills"),
	Entry("that says so on standard output", fails(`python3 stderr`, `shutting down`, `ended: .*exited with code 0`), "--last-line", "stdout"),
)
