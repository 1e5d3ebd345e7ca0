package broker

import (
	"container/heap"
	"sync"
	"time"
)

// schedule runs what is due on one goroutine. What it runs must not block.
type schedule struct {
	mu    sync.Mutex
	jobs  jobs
	count uint64
	wake  chan struct{}
	stop  chan struct{}
}

// job is something due at a time. Jobs of one time run in the order of their
// making.
type job struct {
	at  time.Time
	n   uint64
	run func()
	pos int // in the heap, -1 when it is not there any more
}

func newSchedule() *schedule {
	return &schedule{wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

func (s *schedule) at(t time.Time, run func()) *job {
	s.mu.Lock()
	s.count++
	j := &job{at: t, n: s.count, run: run}
	heap.Push(&s.jobs, j)
	first := j.pos == 0
	s.mu.Unlock()
	if first {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return j
}

// cancel forgets a job; nil and one that ran already are none.
func (s *schedule) cancel(j *job) {
	if j == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.pos >= 0 {
		heap.Remove(&s.jobs, j.pos)
	}
}

// loop is the schedule's goroutine, which ends when stop is closed.
func (s *schedule) loop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.wake:
		case <-s.stop:
			return
		}
		for {
			s.mu.Lock()
			if len(s.jobs) == 0 {
				s.mu.Unlock()
				break
			}
			j := s.jobs[0]
			if wait := time.Until(j.at); wait > 0 {
				s.mu.Unlock()
				timer.Reset(wait)
				break
			}
			heap.Pop(&s.jobs)
			s.mu.Unlock()
			j.run()
		}
	}
}

// jobs is a heap.
type jobs []*job

func (h jobs) Len() int { return len(h) }
func (h jobs) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].n < h[j].n
}
func (h jobs) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i, j
}
func (h *jobs) Push(x any) {
	j := x.(*job)
	j.pos = len(*h)
	*h = append(*h, j)
}
func (h *jobs) Pop() any {
	old := *h
	j := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	j.pos = -1
	return j
}
