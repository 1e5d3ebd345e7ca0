package interop_test

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/robospec/robospec/internal/testenv"
)

//go:embed rclpy_peer.py
var peerScript string

// peer is rclpy in a process of its own; rclpy_peer.py says how it is spoken to.
type peer struct {
	in     io.WriteCloser
	out    io.Reader
	stderr strings.Builder
}

func startPeer(t *testing.T) *peer {
	t.Helper()
	p := &peer{}
	cmd := exec.Command(testenv.Python(t), "-c", peerScript)
	cmd.Stderr = &p.stderr
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if p.out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the rclpy peer: %v\n%s", err, p.stderr.String())
		}
	})
	return p
}

type question struct {
	Do       string   `json:"do"`
	Type     string   `json:"type"`
	Seed     int      `json:"seed"`
	N        int      `json:"n"`
	Values   int      `json:"values"`
	Messages [][]byte `json:"messages"`
}

// answered is a message as rclpy serializes it, and the text of its value or "".
type answered struct {
	CDR   []byte `json:"cdr"`
	Value string `json:"value"`
}

func ask[T any](t *testing.T, p *peer, q question) (answer T) {
	t.Helper()
	b, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.in.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)); err != nil {
		t.Fatalf("write to the rclpy peer: %v\n%s", err, p.stderr.String())
	}
	var head [4]byte
	if _, err := io.ReadFull(p.out, head[:]); err != nil {
		t.Fatalf("read from the rclpy peer: %v\n%s", err, p.stderr.String())
	}
	b = make([]byte, binary.LittleEndian.Uint32(head[:]))
	if _, err := io.ReadFull(p.out, b); err != nil {
		t.Fatalf("read from the rclpy peer: %v\n%s", err, p.stderr.String())
	}
	var a struct {
		Answer T      `json:"answer"`
		Error  string `json:"error"`
	}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("answer of the rclpy peer: %v", err)
	}
	if a.Error != "" {
		t.Fatalf("the rclpy peer could not %s", a.Error)
	}
	return a.Answer
}
