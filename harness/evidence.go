package harness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robospec/robospec/internal/oneline"
)

// evidenced is what has messages to show when a spec failed.
type evidenced interface {
	// evidence is the name, the count, and the newest n messages, oldest first.
	evidence(n int) (title string, messages []string)
}

func (t *Timeline) watch(e evidenced) {
	t.mu.Lock()
	t.watched = append(t.watched, e)
	t.mu.Unlock()
}

func (t *Timeline) unwatch(e evidenced) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.watched, e); i >= 0 {
		t.watched = slices.Delete(t.watched, i, i+1)
	}
}

// Evidence prints what happened on the timeline: the newest stimuli, verdicts
// and notes, then the newest messages of each open subscription, each with its
// instant since the timeline began.
func (t *Timeline) Evidence() string {
	const events, messages = 40, 5
	var b strings.Builder
	all := t.Events()
	b.WriteString("timeline (> is a stimulus):\n")
	if n := len(all) - events; n > 0 {
		fmt.Fprintf(&b, "  … %d events before\n", n)
		all = all[n:]
	}
	for _, e := range all {
		sign := ' '
		if e.Stimulus {
			sign = '>'
		}
		fmt.Fprintf(&b, "%c %12s  %s\n", sign, t.since(e.at), e.Cause())
		for line := range strings.Lines(e.Text) {
			fmt.Fprintf(&b, "                  %s", line)
		}
		if e.Text != "" && !strings.HasSuffix(e.Text, "\n") {
			b.WriteByte('\n')
		}
	}
	t.mu.Lock()
	watched := slices.Clone(t.watched)
	t.mu.Unlock()
	for _, w := range watched {
		title, lines := w.evidence(messages)
		fmt.Fprintf(&b, "%s\n", title)
		for _, line := range lines {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	return b.String()
}

func (s *Subscription[T]) evidence(n int) (string, []string) {
	st := s.log.state()
	title := fmt.Sprintf("%s: %d messages", s.log.name, st.received)
	if st.received > uint64(n) {
		title += fmt.Sprintf(", the newest %d", n)
	}
	if st.err != nil {
		title += ", ended: " + st.err.Error()
	}
	var lines []string
	newest, _, _ := s.log.read(st.next-min(uint64(n), st.next-st.first), time.Time{}, make([]Message[T], 0, n), nil)
	for i := range newest {
		m := &newest[i]
		text := oneline.Print(m.Value)
		if m.err != nil {
			text = m.err.Error()
		}
		lines = append(lines, fmt.Sprintf("%12s  %s", s.g.tl.since(m.Received), text))
	}
	return title, lines
}
