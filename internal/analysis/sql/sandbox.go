package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/efg-tools/efg/internal/units"
)

// Limits limits the resources of statements.
type Limits struct {
	// Memory limits the bytes that SQLite may use; 0: unlimited. It is per process: the limit
	// of the database opened last applies.
	Memory int64
}

// Bounds of single values, for functions that SQLite does not interrupt.
const (
	longestValue   = 16 << 20 // bytes
	longestPattern = 1000     // of LIKE and GLOB
)

// instructions is the number of SQLite's steps between checks whether it must stop.
const instructions = 1000

// sandbox restricts a connection to statements that read, and ends those that exceed a limit.
// SQLite asks it before it compiles an action: what is not on the list is rejected.
type sandbox struct {
	id      uintptr
	ctx     context.Context
	limits  Limits
	closed  atomic.Bool // only reading is allowed
	stopped atomic.Bool
	refused atomic.Pointer[string] // the last rejected action
}

var (
	sandboxes sync.Map // by id
	lastID    atomic.Uintptr

	opening sync.Mutex
	opened  *sandbox // of the connection being opened
)

// prepare makes SQLite count the memory that it uses, which its limit requires, and call enter
// for each connection. It must run before the first one is opened.
var prepare = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	args := tls.Alloc(8)
	defer tls.Free(8)
	sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, libc.VaList(args, int32(1)))
	sqlite3.Xsqlite3_auto_extension(tls, pointer(enter))
})

// newSandbox makes a sandbox whose statements end with the context.
func newSandbox(ctx context.Context, limits Limits) *sandbox {
	s := &sandbox{id: lastID.Add(1), ctx: ctx, limits: limits}
	context.AfterFunc(ctx, func() { s.stopped.Store(true) })
	sandboxes.Store(s.id, s)
	return s
}

func (s *sandbox) close() { sandboxes.Delete(s.id) }

// connect opens a connection that is in the sandbox from the beginning.
func (s *sandbox) connect(d *sqlite.Driver) (driver.Conn, error) {
	opening.Lock()
	defer opening.Unlock()
	prepare()
	opened = s
	defer func() { opened = nil }()
	return d.Open(":memory:")
}

// pointer is the form in which translated C code calls a function, which must be a declared
// one, not a closure.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// enter is called by SQLite for each connection that is opened.
func enter(tls *libc.TLS, db, _, _ uintptr) int32 {
	s := opened
	if s == nil {
		return sqlite3.SQLITE_OK
	}
	for limit, value := range map[int32]int32{
		sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_LENGTH: longestValue, sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: longestPattern,
		sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
	} {
		sqlite3.Xsqlite3_limit(tls, db, limit, value)
	}
	sqlite3.Xsqlite3_hard_heap_limit64(tls, s.limits.Memory)
	sqlite3.Xsqlite3_progress_handler(tls, db, instructions, pointer(progress), s.id)
	return sqlite3.Xsqlite3_set_authorizer(tls, db, pointer(authorize), s.id)
}

// progress is called by SQLite repeatedly; a nonzero result stops the statement.
func progress(_ *libc.TLS, id uintptr) int32 {
	if s, ok := sandboxes.Load(id); ok && s.(*sandbox).stopped.Load() {
		return 1
	}
	return 0
}

// reading are the actions of statements that read.
var reading = []int32{sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}

// harmless are the pragmas that only read, and whether they still do if they have an argument.
var harmless = map[string]bool{
	"table_info": true, "table_xinfo": true, "table_list": true, "function_list": false, "module_list": false, "pragma_list": false,
	"collation_list": false, "database_list": false, "compile_options": false,
}

// authorize is called by SQLite before it compiles an action.
func authorize(_ *libc.TLS, id uintptr, action int32, a, b, _, _ uintptr) int32 {
	x, ok := sandboxes.Load(id)
	if !ok {
		return sqlite3.SQLITE_DENY
	}
	s := x.(*sandbox)
	if !s.closed.Load() || slices.Contains(reading, action) {
		return sqlite3.SQLITE_OK
	}
	what, ok := actions[action]
	if !ok {
		what = "what writes"
	}
	if action == sqlite3.SQLITE_PRAGMA {
		name := libc.GoString(a)
		if given, ok := harmless[name]; ok && (given || b == 0) {
			return sqlite3.SQLITE_OK
		}
		what += " " + name
	}
	s.refused.Store(&what)
	return sqlite3.SQLITE_DENY
}

// actions are the names, in messages, of rejected actions that do not write.
var actions = map[int32]string{
	sqlite3.SQLITE_ATTACH: "ATTACH", sqlite3.SQLITE_DETACH: "DETACH", sqlite3.SQLITE_PRAGMA: "PRAGMA",
	sqlite3.SQLITE_TRANSACTION: "a transaction", sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT",
}

// explain says in an error of SQLite's which limit of the sandbox was reached.
func (s *sandbox) explain(err error) error {
	if err == nil {
		return nil
	}
	if s.stopped.Load() {
		return context.Cause(s.ctx)
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_AUTH:
		if what := s.refused.Load(); what != nil {
			return &StatementError{fmt.Errorf("a run can only be read: %s is refused", *what)}
		}
	case sqlite3.SQLITE_NOMEM:
		return fmt.Errorf("%w: more than %s", ErrMemory, units.Bytes(float64(s.limits.Memory)))
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("%w: more than %s", ErrValue, units.Bytes(longestValue))
	}
	return &StatementError{err}
}

// Limits that statements can reach.
var (
	ErrMemory = errors.New("the statement needs too much memory")
	ErrValue  = errors.New("a value is too long")
)

// StatementError is the error of a statement that is invalid, or not read-only.
type StatementError struct{ Err error }

func (e *StatementError) Error() string { return e.Err.Error() }
func (e *StatementError) Unwrap() error { return e.Err }
