package ros2zenoh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
	"github.com/zeebo/xxh3"
)

// tokenSpace is what the keys of liveliness tokens begin with.
const tokenSpace = "@ros2_lv"

// kind is what a token tells of.
type kind string

const (
	nodes         kind = "NN"
	publishers    kind = "MP"
	subscriptions kind = "MS"
	servers       kind = "SS"
	clients       kind = "SC"
)

var endpointKinds = map[kind]transports.EndpointKind{
	publishers: transports.PublisherEndpoint, subscriptions: transports.SubscriptionEndpoint,
	servers: transports.ServerEndpoint, clients: transports.ClientEndpoint,
}

// entity is a node or an endpoint of one, as its liveliness token tells it
// (zenoh.md §7.2):
//
//	@ros2_lv/<domain>/<zid>/<nid>/<eid>/NN/<enclave>/<namespace>/<node>
//	@ros2_lv/<domain>/<zid>/<nid>/<eid>/<MP|MS|SS|SC>/<enclave>/<namespace>/<node>/<name>/<type>/<hash>/<qos>
type entity struct {
	domain    int
	zid       string // of its session
	nid, eid  uint64 // of its node in the session, and its own
	kind      kind
	enclave   string // "/" when there is none
	namespace string // with a leading slash
	node      string // without its namespace
	name      string // of its topic or service; "" of a node
	typ       transports.Type
	qos       transports.QoS
	gid       measure.PublisherID // of the token
}

// token is the key of the entity's liveliness token. Its names have been
// checked.
func (e *entity) token() string {
	b := []byte(tokenSpace)
	add := func(chunk string) { b = append(append(b, '/'), chunk...) }
	add(strconv.Itoa(e.domain))
	add(e.zid)
	add(strconv.FormatUint(e.nid, 10))
	add(strconv.FormatUint(e.eid, 10))
	add(string(e.kind))
	add(mangle(e.enclave))
	add(mangle(e.namespace))
	add(mangle(e.node))
	if e.kind == nodes {
		return string(b)
	}
	dds, err := ddsType(e.typ.Name)
	if err != nil {
		dds = e.typ.Name // as a foreign token had it
	}
	add(mangle(e.name))
	add(dds)
	add(e.typ.Hash)
	add(qosText(e.qos))
	return string(b)
}

// parseToken reads a token. Chunks beyond those it knows are passed over: newer
// distributions append one.
func parseToken(token string) (*entity, error) {
	c := strings.Split(token, "/")
	if len(c) < 9 || c[0] != tokenSpace {
		return nil, fmt.Errorf("it has %d chunks, want at least 9, the first of them %s", len(c), tokenSpace)
	}
	e := &entity{zid: c[2], kind: kind(c[5]), enclave: absolute(c[6]), namespace: absolute(c[7]), node: strings.Trim(demangle(c[8]), "/"), gid: gidOf(token)}
	if e.node == "" {
		return nil, errors.New("its node has no name")
	}
	var err error
	if e.domain, err = strconv.Atoi(c[1]); err != nil {
		return nil, fmt.Errorf("its domain %q is no number", c[1])
	}
	if e.nid, err = strconv.ParseUint(c[3], 10, 64); err != nil {
		return nil, fmt.Errorf("its node id %q is no number", c[3])
	}
	if e.eid, err = strconv.ParseUint(c[4], 10, 64); err != nil {
		return nil, fmt.Errorf("its entity id %q is no number", c[4])
	}
	if e.kind == nodes {
		return e, nil
	}
	if _, ok := endpointKinds[e.kind]; !ok {
		return nil, fmt.Errorf("its kind %q is none of NN, MP, MS, SS and SC", c[5])
	}
	if len(c) < 13 {
		return nil, fmt.Errorf("it has %d chunks, want at least 13 of an endpoint", len(c))
	}
	if e.name = absolute(c[9]); e.name == "/" {
		return nil, errors.New("its topic or service has no name")
	}
	e.typ = transports.Type{Name: rosType(c[10]), Hash: c[11]}
	if e.qos, err = parseQoS(c[12]); err != nil {
		return nil, fmt.Errorf("its QoS %q: %w", c[12], err)
	}
	return e, nil
}

// absolute is the name of a chunk with a leading slash, which some programs
// leave out.
func absolute(chunk string) string { return "/" + strings.TrimPrefix(demangle(chunk), "/") }

// fullName is the node's name with its namespace.
func (e *entity) fullName() string {
	if strings.HasSuffix(e.namespace, "/") {
		return e.namespace + e.node
	}
	return e.namespace + "/" + e.node
}

// gidOf is the identifier of the entity of a token: XXH3-128 of its key, the low
// half first, both little-endian (zenoh.md §7.4).
func gidOf(token string) (id measure.PublisherID) {
	h := xxh3.HashString128(token)
	binary.LittleEndian.PutUint64(id[:8], h.Lo)
	binary.LittleEndian.PutUint64(id[8:], h.Hi)
	return id
}
