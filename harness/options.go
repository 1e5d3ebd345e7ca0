package harness

import (
	"fmt"
	"reflect"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// QoS is what a publisher offers or a subscription asks for; the zero value is
// the default of each.
type QoS = transports.QoS

// Option is a choice for one Subscribe, Advertise, Serve, NewClient or Source.
type Option interface {
	apply(*options)
}

type options struct {
	qos      QoS
	codec    any
	messages int
	bytes    int64
	feeder   Living
}

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// WithQoS asks for, or offers, exactly this.
func WithQoS(q QoS) Option { return optionFunc(func(o *options) { o.qos = q }) }

// SensorData is the profile of fast sensors: best effort, volatile, depth 5.
func SensorData() Option {
	return WithQoS(QoS{Reliability: transports.BestEffort, Durability: transports.Volatile, Depth: 5})
}

// Reliable is reliable and volatile with this history depth.
func Reliable(depth int) Option {
	return WithQoS(QoS{Reliability: transports.Reliable, Durability: transports.Volatile, Depth: depth})
}

// Latched is reliable and transient local: a publisher keeps its last depth
// messages for those who come later, and a subscription asks for them.
func Latched(depth int) Option {
	return WithQoS(QoS{Reliability: transports.Reliable, Durability: transports.TransientLocal, Depth: depth})
}

// JSON sends T as JSON on a wire that carries bytes as they are.
func JSON[T any]() Option { return Using(msgs.JSON[T]()) }

// Using sends T by this codec.
func Using[T any](c msgs.Codec[T]) Option { return optionFunc(func(o *options) { o.codec = c }) }

// Keep bounds the log of a subscription: the newest messages, at most so many
// and of so many bytes together. 0 leaves a bound as Config has it.
func Keep(messages int, bytes int64) Option {
	return optionFunc(func(o *options) { o.messages, o.bytes = messages, bytes })
}

// FedBy says what feeds a Source, so that its life proves the silence of the
// source.
func FedBy(l Living) Option { return optionFunc(func(o *options) { o.feeder = l }) }

func (g *Graph) options(opts []Option) options {
	o := options{messages: g.cfg.MaxMessages, bytes: g.cfg.MaxBytes}
	for _, opt := range opts {
		opt.apply(&o)
	}
	if o.messages <= 0 {
		o.messages = g.cfg.MaxMessages
	}
	if o.bytes <= 0 {
		o.bytes = g.cfg.MaxBytes
	}
	return o
}

// codecOf is the codec of T: the one given, else the wire's own.
func codecOf[T any](o options, encoding string) (msgs.Codec[T], error) {
	if o.codec == nil {
		return msgs.CodecFor[T](encoding)
	}
	c, ok := o.codec.(msgs.Codec[T])
	if !ok {
		return nil, fmt.Errorf("the codec given is a %T, which is none for %s", o.codec, reflect.TypeFor[T]())
	}
	if encoding != msgs.Raw && encoding != c.Encoding() {
		return nil, fmt.Errorf("the codec given writes %q, but this wire carries %q", c.Encoding(), encoding)
	}
	return c, nil
}
