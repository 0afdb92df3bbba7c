// SPDX-License-Identifier: GPL-3.0-or-later
// Free of races: goroutines with sync.Mutex, sync.RWMutex around a map,
// sync/atomic, sync.Pool, sync.Once and channels, and work for the collector.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type parcel struct {
	serial int64
	body   [6]int64
}

type shared struct {
	mutex   sync.Mutex
	ledger  [4]int64
	rwlock  sync.RWMutex
	table   map[int64]string
	count   int64
	newest  atomic.Value
	once    sync.Once
	letters []string
	pool    sync.Pool
	parcels chan *parcel
}

var deadline time.Time
var rounds int64

func goesOn(i int64) bool {
	if rounds > 0 {
		return i < rounds
	}
	return i%64 != 0 || time.Now().Before(deadline)
}

func check(good bool, what string) {
	if !good {
		panic(what)
	}
}

//go:noinline
func (s *shared) lock(i int64) {
	s.mutex.Lock()
	for k := range s.ledger {
		s.ledger[k] += i
	}
	check(s.ledger[0] == s.ledger[3], "ledger")
	s.mutex.Unlock()
	s.rwlock.Lock()
	s.table[i%16] = strconv.FormatInt(i, 10)
	s.rwlock.Unlock()
	s.rwlock.RLock()
	check(len(s.table[i%16]) > 0, "table")
	s.rwlock.RUnlock()
}

//go:noinline
func (s *shared) publish(i int64) {
	s.once.Do(func() { s.letters = strings.Split("a b c", " ") })
	check(s.letters[2] == "c", "letters")
	check(atomic.AddInt64(&s.count, 1) > 0, "count")
	s.newest.Store(&parcel{serial: i, body: [6]int64{i}})
	seen := s.newest.Load().(*parcel)
	check(seen.serial == seen.body[0], "newest")
}

//go:noinline
func (s *shared) send(i int64) {
	p := s.pool.Get().(*parcel)
	p.serial, p.body[5] = i, i*3
	select {
	case s.parcels <- p:
	default:
	}
	select {
	case q := <-s.parcels:
		check(q.body[5] == q.serial*3, "parcel")
		s.pool.Put(q)
	default:
	}
}

func main() {
	seconds := 12.0
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "x") {
		rounds, _ = strconv.ParseInt(os.Args[1][1:], 10, 64)
	} else if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	deadline = time.Now().Add(time.Duration(seconds * 1e9))
	s := &shared{table: map[int64]string{}, parcels: make(chan *parcel, 4)}
	s.pool.New = func() interface{} { return new(parcel) }
	var group sync.WaitGroup
	for g := 0; g < 3; g++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := int64(0); goesOn(i); i++ {
				s.lock(i)
				s.publish(i)
				s.send(i)
			}
		}()
	}
	group.Wait()
	fmt.Println("free_go: done")
}
