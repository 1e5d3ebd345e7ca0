package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// printer prints results: text for people or one JSON object per line. It is
// for one goroutine.
type printer struct {
	w    io.Writer
	json bool
	// unread, which may be nil, is called when nobody reads what is printed.
	unread func()
	gone   bool
	err    error // of a write, but for a reader that has gone
}

// printf prints a line for people.
func (p *printer) printf(format string, args ...any) {
	if !p.json {
		p.write(fmt.Appendf(nil, format+"\n", args...))
	}
}

// object prints a JSON object in a line.
func (p *printer) object(v any) {
	if !p.json {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it is read by people and scripts, not by browsers
	if err := e.Encode(v); err != nil {
		p.err = errors.Join(p.err, err)
		return
	}
	p.write(b.Bytes())
}

func (p *printer) write(b []byte) {
	if p.gone || p.err != nil {
		return
	}
	_, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		p.gone = true
		if p.unread != nil {
			p.unread()
		}
		return
	}
	if err != nil {
		p.err = fmt.Errorf("print: %w", err)
	}
}

// short is a duration to three digits.
func short(d time.Duration) string {
	unit := time.Duration(1)
	for a := d.Abs(); a/unit >= 1000; {
		unit *= 10
	}
	return d.Round(unit).String()
}

// amount is a number of bytes, to so many digits, with a decimal prefix.
func amount(bytes float64, digits int) string {
	unit, factor := "B", 1.0
	switch {
	case bytes >= 1e9:
		unit, factor = "GB", 1e9
	case bytes >= 1e6:
		unit, factor = "MB", 1e6
	case bytes >= 1e3:
		unit, factor = "kB", 1e3
	}
	return fmt.Sprintf("%.*g %s", digits, bytes/factor, unit)
}

// stampText is an instant for people and for JSON: RFC 3339 in UTC, "" for none.
func stampText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// table prints rows for people, the columns aligned.
func (p *printer) table(rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	_ = w.Flush() // into memory
	for line := range strings.Lines(b.String()) {
		p.printf("%s", strings.TrimRight(line, " \n"))
	}
}
