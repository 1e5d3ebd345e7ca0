// Package interop_test holds every message type of the generated packages
// against rclpy: its bytes, its values and its defaults.
package interop_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/rosidl"
)

// perType is how many random values of each type go each way. The bytes of all
// are compared, and of some the values, too, field by field.
const withValue = perType / 4

// typ is a message type by its codec.
type typ struct {
	name, hash string
	zero       func() reflect.Value // settable
	encode     func(v reflect.Value) ([]byte, error)
	decode     func(src []byte) (reflect.Value, error)
}

func of[T any, P interface {
	*T
	msgs.Message[T]
}]() typ {
	c := P(nil).CDRCodec()
	return typ{
		name:   c.TypeName(),
		hash:   c.TypeHash(),
		zero:   func() reflect.Value { return reflect.New(reflect.TypeFor[T]()).Elem() },
		encode: func(v reflect.Value) ([]byte, error) { return c.Append(nil, v.Interface().(T)) },
		decode: func(src []byte) (reflect.Value, error) {
			v, err := c.Decode(src)
			return reflect.ValueOf(v), err
		},
	}
}

func newWalker(t *testing.T) walker {
	t.Helper()
	set, err := rosidl.Load(testenv.ROSShare(t))
	if err != nil {
		t.Fatal(err)
	}
	return walker{t, set, map[string]*rosidl.Message{}}
}

// same compares our bytes with those of rclpy, the padding aside, and what
// rclpy leaves behind the message when it estimated its size.
func same(t *testing.T, what string, ours, theirs []byte, padding []bool) {
	t.Helper()
	if len(theirs) < len(ours) || len(padding) != len(ours) {
		t.Fatalf("%s: %d bytes, rclpy has %d\n%x\n%x", what, len(ours), len(theirs), ours, theirs)
	}
	for i := range ours {
		if !padding[i] && ours[i] != theirs[i] {
			t.Fatalf("%s: byte %d differs from rclpy's\n%x\n%x", what, i, ours, theirs)
		}
	}
}

func TestEveryTypeAgainstRclpy(t *testing.T) {
	w, p := newWalker(t), startPeer(t)
	messages := 0
	for seed, typ := range types {
		t.Run(typ.name, func(t *testing.T) {
			w := walker{t, w.set, w.known}
			for i, m := range ask[[]answered](t, p, question{Do: "make", Type: typ.name, Seed: seed, N: perType, Values: withValue}) {
				v, err := typ.decode(m.CDR)
				if err != nil {
					t.Fatalf("message %d of rclpy: %v", i, err)
				}
				if i < withValue {
					if got := w.text(typ.name, v); got != m.Value {
						t.Fatalf("message %d of rclpy is decoded as\n%s, it is\n%s", i, got, m.Value)
					}
				}
				ours, err := typ.encode(v)
				if err != nil {
					t.Fatalf("message %d of rclpy, encoded again: %v", i, err)
				}
				_, padding := w.encode(typ.name, v, false)
				same(t, "encoded again", ours, m.CDR, padding)
				messages++
			}

			var sent [][]byte
			var values []reflect.Value
			for i := range perType {
				v := typ.zero()
				f := filler{w, rand.New(rand.NewPCG(uint64(seed), uint64(i))), anything}
				if i < 2 {
					f.mode = []mode{smallest, largest}[i]
				}
				f.fill(typ.name, v)
				ours, err := typ.encode(v)
				if err != nil {
					t.Fatalf("message %d of ours: %v", i, err)
				}
				if little, _ := w.encode(typ.name, v, false); !bytes.Equal(ours, little) {
					t.Fatalf("message %d of ours is\n%x, the other encoder says\n%x", i, ours, little)
				}
				big, _ := w.encode(typ.name, v, true)
				back, err := typ.decode(big)
				if err != nil {
					t.Fatalf("message %d of ours in big-endian: %v", i, err)
				}
				if got, want := w.text(typ.name, back), w.text(typ.name, v); got != want {
					t.Fatalf("message %d of ours in big-endian is decoded as\n%s, it is\n%s", i, got, want)
				}
				if i%4 == 3 { // so that rclpy agrees with the other encoder
					ours = big
				}
				sent, values = append(sent, ours), append(values, v)
			}
			for i, m := range ask[[]answered](t, p, question{Do: "read", Type: typ.name, Messages: sent, Values: withValue}) {
				if i < withValue {
					if want := w.text(typ.name, values[i]); m.Value != want {
						t.Fatalf("message %d of ours is to rclpy\n%s, it is\n%s", i, m.Value, want)
					}
				}
				ours, padding := w.encode(typ.name, values[i], false)
				same(t, "serialized again", ours, m.CDR, padding)
				messages++
			}
		})
	}
	t.Logf("%d types, %d messages", len(types), messages)
}

func TestDefaultsAreThoseOfRclpy(t *testing.T) {
	w, p := newWalker(t), startPeer(t)
	values := map[string]reflect.Value{}
	for _, v := range defaults {
		values[v.name] = v.value
	}
	for _, typ := range types {
		v, ok := values[typ.name]
		if !ok {
			v = typ.zero()
		}
		if got, want := w.text(typ.name, v), ask[string](t, p, question{Do: "default", Type: typ.name}); got != want {
			t.Errorf("%s is\n%s by default, to rclpy it is\n%s", typ.name, got, want)
		}
	}
}

// named is a value of the named type.
type named struct {
	name  string
	value reflect.Value
}

func is[T any, P interface {
	*T
	msgs.Message[T]
}](v T) named {
	return named{P(nil).CDRCodec().TypeName(), reflect.ValueOf(v)}
}

func TestTypeHashesAreThoseOfTheDefinitions(t *testing.T) {
	w := newWalker(t)
	for _, typ := range types {
		if want, err := w.set.Hash(typ.name); err != nil || typ.hash != want {
			t.Errorf("hash of %s is %s, want %s, %v", typ.name, typ.hash, want, err)
		}
	}
}

// largestOf is the CDR of the largest value that a filler makes of each type.
func largestOf(t *testing.T, w walker, typ typ) []byte {
	t.Helper()
	v := typ.zero()
	filler{w, rand.New(rand.NewPCG(1, 2)), largest}.fill(typ.name, v)
	b, err := typ.encode(v)
	if err != nil {
		t.Fatalf("%s: %v", typ.name, err)
	}
	return b
}

func TestTruncatedAtEveryByte(t *testing.T) {
	w := newWalker(t)
	for _, typ := range types {
		whole := largestOf(t, w, typ)
		for n := range whole {
			_, err := typ.decode(whole[:n:n])
			d, ok := errors.AsType[*msgs.DecodeError](err)
			if !ok {
				t.Fatalf("%s cut to %d of %d bytes: error %v", typ.name, n, len(whole), err)
			}
			if d.Type != typ.name || d.Offset < 0 || d.Offset > int64(n) || (d.Field == "") != (n < 4) {
				t.Fatalf("%s cut to %d of %d bytes: %#v", typ.name, n, len(whole), d)
			}
		}
	}
}

func TestLengthsOf4GiBAllocateNothingLikeIt(t *testing.T) {
	w := newWalker(t)
	for _, typ := range types {
		whole := largestOf(t, w, typ)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tries := uint64(0)
		for at := 4; at+4 <= len(whole); at += 4 {
			for _, n := range [][]byte{{255, 255, 255, 255}, {0, 0, 0, 128}} {
				b := bytes.Clone(whole)
				copy(b[at:], n)
				_, err := typ.decode(b)
				if _, ok := errors.AsType[*msgs.DecodeError](err); err != nil && !ok {
					t.Fatalf("%s with a length of 4 GiB at %d: error %v", typ.name, at, err)
				}
				tries++
			}
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / max(tries, 1); each > uint64(16*len(whole)+4096) {
			t.Errorf("%s of %d bytes with a length of 4 GiB allocates %d bytes", typ.name, len(whole), each)
		}
	}
}
