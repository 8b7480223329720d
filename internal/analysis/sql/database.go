package sql

import (
	"context"
	dbsql "database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/analysis/eventrow"
	"github.com/efg-tools/efg/reconstruct"
)

// Database is a run as a read-only database.
type Database struct {
	*dbsql.DB
	sandbox   *sandbox
	run       *runfile.Run
	rebuilder *reconstruct.Run
	first     []int
	streams   []int64 // streams of the processes before each

	// Progress, if any, is called with the number of the process being read.
	Progress analysis.Progress

	mu     sync.Mutex
	recent []*process // the most recently read processes, newest first
	failed error      // error in reading the run
}

// maxRecent is the number of processes kept for joins.
const maxRecent = 4

// connector opens connections that have the tables.
type connector struct {
	driver  *sqlite.Driver
	sandbox *sandbox
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.sandbox.connect(c.driver) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// NamesEvents reports whether a statement may read the table events, which has the times of each
// call. A name cannot be written otherwise.
func NamesEvents(statement string) bool {
	return strings.Contains(strings.ToLower(statement), "events")
}

// Open prepares a run. Statements end with the context. Close closes the database, not the
// run.
func Open(ctx context.Context, run *runfile.Run, limits Limits) (*Database, error) {
	rebuilder, err := reconstruct.NewRun(run)
	if err != nil {
		return nil, err
	}
	db := &Database{sandbox: newSandbox(ctx, limits), run: run, rebuilder: rebuilder, first: analysis.FirstRanks(run.Procs)}
	streams := int64(0)
	for i := range run.Procs {
		db.streams = append(db.streams, streams)
		streams += int64(len(run.Procs[i].Streams))
	}
	d := &sqlite.Driver{}
	for i := range tables {
		if err := d.RegisterModule("efg_"+tables[i].name, &module{db, &tables[i]}); err != nil {
			return nil, err
		}
	}
	db.DB = dbsql.OpenDB(connector{d, db.sandbox})
	db.SetMaxOpenConns(1) // the tables belong to one connection
	db.SetMaxIdleConns(1)
	for i := range tables {
		t := &tables[i]
		if _, err := db.Exec("CREATE VIRTUAL TABLE " + t.name + " USING efg_" + t.name); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	if _, err := db.Exec("PRAGMA temp_store = MEMORY; PRAGMA query_only = ON"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.sandbox.closed.Store(true)
	return db, nil
}

// Close closes the database.
func (db *Database) Close() error {
	defer db.sandbox.close()
	return db.DB.Close()
}

// Reason returns why a statement failed: the error of the context if it is done, an error
// reading the run, or the limit that was reached.
func (db *Database) Reason(err error) error {
	if err == nil || db.sandbox.stopped.Load() {
		return db.sandbox.explain(err)
	}
	if failed := db.Failure(); failed != nil {
		return failed
	}
	return db.sandbox.explain(err)
}

// Failure returns the error, if any, in reading the run. SQLite only reports that there was
// one.
func (db *Database) Failure() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.failed
}

func (db *Database) fail(err error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.failed == nil {
		db.failed = err
	}
	return err
}

// process is a process after reading it.
type process struct {
	index  int
	data   *efg.Process
	events *reconstruct.Process
	facts  *analysis.Process
	nodes  map[int][]eventrow.Node // by stream
}

// process reads Procs[i], unless it was read just before.
func (db *Database) process(i int) (*process, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for k, p := range db.recent {
		if p.index == i {
			copy(db.recent[1:k+1], db.recent[:k])
			db.recent[0] = p
			return p, nil
		}
	}
	if db.Progress != nil {
		db.Progress(uint64(i))
	}
	events, err := db.rebuilder.Process(i)
	if err != nil {
		return nil, err
	}
	facts, err := analysis.NewProcess(events.Data(), db.first[i])
	if err != nil {
		return nil, err
	}
	p := &process{i, events.Data(), events, facts, map[int][]eventrow.Node{}}
	db.recent = append([]*process{p}, db.recent[:min(len(db.recent), maxRecent-1)]...)
	return p, nil
}
