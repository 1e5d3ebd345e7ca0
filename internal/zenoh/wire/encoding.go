package wire

import (
	"fmt"
	"strings"

	raw "github.com/robospec/robospec/internal/wire"
)

// EncodingCustom is the id of an encoding that has no number: the whole text is
// in the schema.
const EncodingCustom = 0xffff

// maxSchema is the longest schema in bytes.
const maxSchema = 255

// Encoding says what a payload is. The zero value is zenoh/bytes, the default,
// which is not written on the wire.
type Encoding struct {
	ID     uint16
	Schema []byte // at most 255 bytes; what exceeds them is not written
}

var encodingNames = [...]string{
	"zenoh/bytes", "zenoh/string", "zenoh/serialized",
	"application/octet-stream", "text/plain", "application/json", "text/json",
	"application/cdr", "application/cbor", "application/yaml", "text/yaml",
	"text/json5", "application/python-serialized-object", "application/protobuf",
	"application/java-serialized-object", "application/openmetrics-text",
	"image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp",
	"application/xml", "application/x-www-form-urlencoded", "text/html", "text/xml",
	"text/css", "text/javascript", "text/markdown", "text/csv", "application/sql",
	"application/coap-payload", "application/json-patch+json", "application/json-seq",
	"application/jsonpath", "application/jwt", "application/mp4", "application/soap+xml",
	"application/yang", "audio/aac", "audio/flac", "audio/mp4", "audio/ogg",
	"audio/vorbis", "video/h261", "video/h263", "video/h264", "video/h265",
	"video/h266", "video/mp4", "video/ogg", "video/raw", "video/vp8", "video/vp9",
}

// ParseEncoding reads the string form, e.g. "text/plain;utf-8". A text that does
// not begin with a known name is a custom encoding; "" is the default.
func ParseEncoding(s string) (Encoding, error) {
	if s == "" {
		return Encoding{}, nil
	}
	e := Encoding{ID: EncodingCustom, Schema: []byte(s)}
	name, schema, _ := strings.Cut(s, ";")
	for id, n := range encodingNames {
		if n == name {
			e = Encoding{ID: uint16(id)}
			if schema != "" {
				e.Schema = []byte(schema)
			}
		}
	}
	if len(e.Schema) > maxSchema {
		return Encoding{}, fmt.Errorf("zenoh: encoding schema of %d bytes, at most %d allowed", len(e.Schema), maxSchema)
	}
	return e, nil
}

// String is the name, and the schema after a semicolon if there is one. An id
// without a name prints as "unknown(ID)".
func (e Encoding) String() string {
	if e.ID == EncodingCustom {
		return string(e.Schema)
	}
	s := fmt.Sprintf("unknown(%d)", e.ID)
	if int(e.ID) < len(encodingNames) {
		s = encodingNames[e.ID]
	}
	if len(e.Schema) > 0 {
		s += ";" + string(e.Schema)
	}
	return s
}

// IsZero reports whether e is the default.
func (e Encoding) IsZero() bool { return e.ID == 0 && len(e.Schema) == 0 }

func (e Encoding) schema() []byte { return e.Schema[:min(len(e.Schema), maxSchema)] }

func (e Encoding) len() int {
	n := VLELen(uint64(e.ID) << 1)
	if s := len(e.schema()); s > 0 {
		n += VLELen(uint64(s)) + s
	}
	return n
}

func (e Encoding) append(dst []byte) []byte {
	s := e.schema()
	if len(s) == 0 {
		return AppendVLE(dst, uint64(e.ID)<<1)
	}
	return appendZ(AppendVLE(dst, uint64(e.ID)<<1|1), s)
}

func (e *Encoding) parse(c *raw.Cursor) {
	v := vleMax(c, "encoding", 1<<17-1)
	*e = Encoding{ID: uint16(v >> 1)}
	if v&1 != 0 {
		n := vleMax(c, "encoding schema length", maxSchema)
		if b := c.Bytes64("encoding schema", n); len(b) > 0 {
			e.Schema = b
		}
	}
}
