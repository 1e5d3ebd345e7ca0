package testenv_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestZenohRouterListens(t *testing.T) {
	at := testenv.ZenohRouter(t)
	host, ok := strings.CutPrefix(at, "tcp/")
	if !ok {
		t.Fatalf("endpoint %q is not tcp/…", at)
	}
	c, err := net.DialTimeout("tcp", host, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestZenohRouterWithTLSShowsACertificateOfItsAuthority(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{TLS: true})
	pem, err := os.ReadFile(r.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("no authority in", r.CAFile)
	}
	c, err := tls.Dial("tcp", strings.TrimPrefix(r.Endpoint, "tls/"), &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestKilledRouterIsGone(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{})
	r.Kill()
	if c, err := net.Dial("tcp", strings.TrimPrefix(r.Endpoint, "tcp/")); err == nil {
		c.Close()
		t.Error("somebody still listens at", r.Endpoint)
	}
}

func TestPythonPeerTalksInLines(t *testing.T) {
	p := testenv.StartPython(t, "import sys\nfor line in sys.stdin:\n    print('got', line.strip())\n")
	p.Send("one")
	if got := p.Line(); got != "got one" {
		t.Errorf("line %q", got)
	}
}

func TestPythonPeerComplains(t *testing.T) {
	p := testenv.StartPython(t, "import sys\nfor line in sys.stdin:\n    print(line.strip(), file=sys.stderr)\n")
	p.Send("no")
	p.Complains("no")
}

func TestZenohPeersHearEachOther(t *testing.T) {
	at := testenv.ZenohRouter(t)
	a, b := testenv.StartZenohPeer(t, at, ""), testenv.StartZenohPeer(t, at, "")
	b.Do("subscribe", "k/*")
	a.Do("put", "k/x", "payload", "hello")
	got, _ := b.Next()["sample"].(map[string]any)
	if got["key"] != "k/x" || got["payload"] != "hello" || got["kind"] != "put" {
		t.Errorf("%v", got)
	}
}
