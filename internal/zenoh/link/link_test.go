package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseLocator(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Locator
	}{
		{"tcp/127.0.0.1:7447", Locator{"tcp", "127.0.0.1", 7447}},
		{"tls/robot.local:1", Locator{"tls", "robot.local", 1}},
		{"tcp/[::1]:65535", Locator{"tcp", "::1", 65535}},
	} {
		got, err := ParseLocator(c.in)
		if err != nil || got != c.want {
			t.Errorf("ParseLocator(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
		}
		if got.String() != c.in {
			t.Errorf("ParseLocator(%q).String() = %q", c.in, got)
		}
	}
	for in, want := range map[string]string{
		"":                     "no protocol",
		"127.0.0.1:7447":       "no protocol",
		"udp/127.0.0.1:7447":   `protocol "udp"`,
		"tcp/127.0.0.1":        "missing port",
		"tcp/:7447":            "no host",
		"tcp/::1:7447":         "too many colons",
		"tcp/h:0":              `port "0"`,
		"tcp/h:65536":          `port "65536"`,
		"tcp/h:http":           `port "http"`,
		"tcp/h:7447#iface=lo":  `"#iface=lo" is not supported`,
		"tcp/h:7447?prio=1-2":  `"?prio=1-2" is not supported`,
		"tcp//127.0.0.1:7447/": `port "7447/"`,
	} {
		_, err := ParseLocator(in)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write it like") {
			t.Errorf("ParseLocator(%q): %v; want %q and the remedy", in, err, want)
		}
	}
}

// pair is a link and the raw stream at its other end.
func pair(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	locator, err := ParseLocator("tcp/" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l, err := Dial(t.Context(), locator, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return l, c
}

func TestBatchesInPiecesOfAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var want [][]byte
	var stream []byte
	for _, n := range []int{0, 1, 2, 65535, 0, 65535, 65534, 3, 40000, 40000, 40000, 0} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		want = append(want, b)
		at := len(stream)
		stream = append(Begin(stream), b...)
		End(stream, at)
	}
	for _, piece := range []int{1, 7, 4096, 65537, len(stream)} {
		l, c := pair(t)
		go func() {
			defer c.Close()
			for rest := stream; len(rest) > 0; {
				n, err := c.Write(rest[:min(piece, len(rest))])
				if err != nil {
					return
				}
				rest = rest[n:]
			}
		}()
		var got [][]byte
		var err error
		for err == nil {
			err = l.Fill()
			for b, ok := l.Next(); ok; b, ok = l.Next() {
				got = append(got, bytes.Clone(b))
			}
		}
		if !errors.Is(err, io.EOF) {
			t.Fatalf("pieces of %d: %v after %d batches", piece, err, len(got))
		}
		if len(got) != len(want) {
			t.Fatalf("pieces of %d: %d batches, want %d", piece, len(got), len(want))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("pieces of %d: batch %d has %d bytes, want %d, or others", piece, i, len(got[i]), len(want[i]))
			}
		}
	}
}

func TestStreamThatEndsInsideABatch(t *testing.T) {
	for _, part := range [][]byte{{5}, {5, 0}, {5, 0, 1, 2, 3, 4}} {
		l, c := pair(t)
		if _, err := c.Write(part); err != nil {
			t.Fatal(err)
		}
		c.Close()
		if err := l.Fill(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("% x, then the end: %v", part, err)
		}
	}
}

func TestTryWriteNeverWaits(t *testing.T) {
	l, c := pair(t)
	b := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	total := 0
	for range 10_000 {
		n, err := l.TryWrite(b)
		if err != nil {
			t.Fatal(err)
		}
		total += n
		if n < len(b) {
			break
		}
	}
	if n, err := l.TryWrite(b); n != 0 || err != nil {
		t.Errorf("a full socket took %d bytes, %v", n, err)
	}
	drained := make(chan error, 1)
	go func() { _, err := io.CopyN(io.Discard, c, int64(total+len(b))); drained <- err }()
	if err := l.Write(b); err != nil {
		t.Error("write after room was made:", err)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
	l.Close()
	if _, err := l.TryWrite(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestTryWriteAllocatesNothing(t *testing.T) {
	l, c := pair(t)
	go func() { _, _ = io.Copy(io.Discard, c) }() // ends with the link
	b := []byte("0123456789")
	if n := testing.AllocsPerRun(100, func() {
		if n, err := l.TryWrite(b); n != len(b) || err != nil {
			t.Fatal(n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a write", n)
	}
	l.Close()
}

func TestStreamsWithoutASocketTakeNothingAtOnce(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	l := New(a, "pipe")
	defer l.Close()
	if n, err := l.TryWrite([]byte("x")); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestDialRefusedNamesThePlace(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "tcp/" + ln.Addr().String()
	ln.Close()
	locator, err := ParseLocator(at)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Dial(t.Context(), locator, nil)
	if err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the backlog and says no word of TLS
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	locator, err := ParseLocator("tls/" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err = Dial(ctx, locator, nil); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("%v", err)
	}
}

func TestDialTriesEveryAddressOfAName(t *testing.T) {
	hosts, err := net.LookupHost("localhost")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range hosts {
		ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Fatalf("localhost is %v: %v", hosts, err)
		}
		l, err := Dial(t.Context(), Locator{"tcp", "localhost", uint16(ln.Addr().(*net.TCPAddr).Port)}, nil)
		if err != nil {
			t.Errorf("only %s of %v listens: %v", host, hosts, err)
		} else {
			l.Close()
		}
		ln.Close()
	}
}

func TestTLSNeedsItsAuthority(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{TLS: true})
	locator, err := ParseLocator(r.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var unknown x509.UnknownAuthorityError
	if _, err := Dial(t.Context(), locator, nil); !errors.As(err, &unknown) {
		t.Errorf("without its authority: %v", err)
	}
	pem, err := os.ReadFile(r.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	l, err := Dial(t.Context(), locator, &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// FuzzFill compares the batches of an arbitrary stream, read in pieces, with
// those that its length prefixes say.
func FuzzFill(f *testing.F) {
	f.Add([]byte{1, 0, 'a', 0, 0, 2, 0, 'b', 'c'}, uint16(2))
	f.Add([]byte{0xff, 0xff, 1}, uint16(1))
	f.Fuzz(func(t *testing.T, stream []byte, piece uint16) {
		ours, theirs := net.Pipe()
		l := New(ours, "pipe")
		defer l.Close()
		go func() {
			defer theirs.Close()
			for rest := stream; len(rest) > 0; {
				n, err := theirs.Write(rest[:min(int(piece)+1, len(rest))])
				if err != nil {
					return
				}
				rest = rest[n:]
			}
		}()
		rest := stream
		for {
			err := l.Fill()
			for b, ok := l.Next(); ok; b, ok = l.Next() {
				n := int(rest[0]) | int(rest[1])<<8
				if !bytes.Equal(b, rest[2:2+n]) {
					t.Fatalf("batch % x, want % x", b, rest[2:2+n])
				}
				rest = rest[2+n:]
			}
			if err == nil {
				continue
			}
			whole := len(rest) >= 2 && len(rest)-2 >= int(rest[0])|int(rest[1])<<8
			if whole || errors.Is(err, io.EOF) != (len(rest) == 0) {
				t.Fatalf("%v with % x left", err, rest)
			}
			return
		}
	})
}
