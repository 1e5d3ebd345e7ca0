// Command echo is robospec's half of scripts/bench-echo: a spec writer's loops
// over harness.ListenReliable. The Python halves beside it do the same.
//
// A token is a number in decimal text. Who hears it answers with its successor
// on the other topic, so a token's value counts the messages, each one
// published by one pair and read by the other, and exactly one is in flight.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/transports/dial"
)

// setup bounds what comes before the measurement.
const setup = 10 * time.Second

func main() {
	log.SetFlags(0)
	connect := flag.String("connect", "inproc:", "`URL` of the graph, such as zenoh://127.0.0.1:7447")
	role := flag.String("role", "both", "both pairs in one session, or one of two processes, `ping` or pong, which says how to reach its router if it embeds one; ping starts and measures")
	ping := flag.String("ping", "ping", "the `topic` that ping publishes on")
	pong := flag.String("pong", "pong", "the `topic` that pong publishes on")
	warmup := flag.Float64("warmup", 1, "`seconds` before the measurement")
	length := flag.Float64("seconds", 5, "`seconds` of the measurement")
	flag.Parse()
	if err := run(*connect, *role, *ping, *pong, seconds(*warmup), seconds(*length)); err != nil {
		log.Fatalf("fault: %v", err)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func run(connect, role, ping, pong string, warmup, length time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), setup)
	defer cancel()
	conn, err := dial.Open(ctx, connect)
	if err != nil {
		return err
	}
	rig := harness.New(conn, harness.Config{})
	faults := make(chan error, 2)
	if role != "ping" {
		answering, err := newPair(ctx, rig, ping, pong, 0)
		if err != nil {
			return err
		}
		go func() { faults <- answering.echo() }()
	}
	if role == "pong" {
		if e, ok := conn.(dial.Embedded); ok {
			connect = e.URL()
		}
		fmt.Println(connect)
		return <-faults
	}
	measured, err := newPair(ctx, rig, pong, ping, 1)
	if err != nil {
		return err
	}
	go func() { faults <- measured.echo() }()
	if err := measured.pub.WaitForSubscribers(ctx, 1); err != nil {
		return err
	}
	if _, err := measured.pub.Publish(ctx, "0"); err != nil {
		return err
	}

	if err := wait(warmup, faults); err != nil {
		return err
	}
	first, begin := measured.next.Load(), time.Now()
	if err := wait(length, faults); err != nil {
		return err
	}
	last, took := measured.next.Load(), time.Since(begin)
	if last == first {
		return fmt.Errorf("the token stopped at %d", last)
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"messages": last - first, "seconds": took.Seconds()}); err != nil {
		return err
	}
	return rig.Close()
}

// wait returns nil after d, or sooner with the fault that ended an echo.
func wait(d time.Duration, faults <-chan error) error {
	select {
	case err := <-faults:
		return err
	case <-time.After(d):
		return nil
	}
}

// pair subscribes to one topic and answers each token on another.
type pair struct {
	sub  *harness.Subscription[string]
	pub  *harness.Publisher[string]
	next atomic.Int64
}

func newPair(ctx context.Context, rig *harness.Graph, source, target string, first int64) (*pair, error) {
	p := &pair{}
	var err error
	if p.sub, err = harness.Subscribe[string](ctx, rig, source); err != nil {
		return nil, err
	}
	if p.pub, err = harness.Advertise[string](ctx, rig, target); err != nil {
		return nil, err
	}
	p.next.Store(first)
	return p, nil
}

// echo runs until the graph is closed. Its reader begins with the log, so no
// token comes before it.
func (p *pair) echo() error {
	ctx := context.Background()
	for m, err := range p.sub.FromStart().ListenReliable(ctx) {
		if err != nil {
			return err
		}
		token, err := strconv.ParseInt(m.Value, 10, 64)
		if err != nil {
			return err
		}
		if next := p.next.Load(); token != next {
			return fmt.Errorf("token %d came in the place of %d", token, next)
		}
		p.next.Store(token + 2)
		if _, err := p.pub.Publish(ctx, strconv.FormatInt(token+1, 10)); err != nil {
			return err
		}
	}
	return errors.New("the loop ended")
}
