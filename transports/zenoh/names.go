package zenoh

import (
	"encoding/binary"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// subscriptionKey is the key expression of a topic, wildcards allowed.
func subscriptionKey(name string) (string, error) {
	resolved, err := transports.Resolve(name)
	if err != nil {
		return "", err
	}
	key, err := keyexpr.Canon(resolved[1:])
	if err != nil {
		return "", &transports.NameError{Name: name, Reason: err.Error()}
	}
	return key, nil
}

// concreteKey is the key of a name that stands for one topic or service.
func concreteKey(name string) (string, error) {
	key, err := subscriptionKey(name)
	if err == nil && !keyexpr.IsConcrete(key) {
		err = &transports.NameError{Name: name, Reason: "wildcards may stand in the name of a subscription only"}
	}
	return key, err
}

// meet reports whether a concrete key matches a key expression.
func meet(concrete, expr string) bool { return keyexpr.Intersects(concrete, expr) }

// publisherID folds a Zenoh entity, which has up to 20 bytes, into 16: the
// session's id, the last four bytes combined with the entity's. Two entities of
// one session never get the same; those of two have random ids.
func publisherID(e wire.EntityID) (id measure.PublisherID) {
	if e.IsZero() {
		return id
	}
	copy(id[:], e.ZID.Bytes())
	tail := id[12:]
	binary.LittleEndian.PutUint32(tail, binary.LittleEndian.Uint32(tail)^e.EID)
	return id
}
