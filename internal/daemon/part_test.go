package daemon

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/merge"
	"github.com/efg-tools/efg/internal/segment"
)

// launchOn writes into segments what the processes of a launch on several machines know.
func launchOn(t *testing.T, file string, world uint64, job string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	header := reflect.TypeOf(segment.Header{})
	at := func(name string) uintptr {
		f, _ := header.FieldByName(name)
		return f.Offset
	}
	binary.LittleEndian.PutUint64(data[at("World"):], world)
	binary.LittleEndian.PutUint32(data[at("Machines"):], 2)
	copy(data[at("Job"):], job+"\x00")
	write(t, file, data)
}

// scattered makes a launch whose ranks are on several machines, in these spools in turn. They
// appear in random order.
func scattered(t *testing.T, spools []string, ranks int, number uint64, job string) (all []identity) {
	t.Helper()
	made := t.TempDir()
	rank := 0
	for x, file := range simulated(t, made, ranks, number) {
		launchOn(t, file, 1000+number, job)
		all = append(all, x)
		if err := os.Rename(file, filepath.Join(spools[rank%len(spools)], filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
		rank++
	}
	return all
}

var nodes = []string{"n1", "n2", "n3"}

func nodeSpools(t *testing.T) (spools []string) {
	for range nodes {
		spools = append(spools, privateDir(t))
	}
	return spools
}

// Daemons of several machines that share a store, and are killed at any moment: each launch
// becomes exactly one run, with all processes.
func TestNodesKilled(t *testing.T) {
	store, spools := t.TempDir(), nodeSpools(t)
	rng := rand.New(rand.NewPCG(7, 8))
	all := map[identity]bool{}
	launches, interrupted := 0, 0
	start := func() (list []*exec.Cmd) {
		for i, spool := range spools {
			list = append(list, startNode(t, store, spool, nodes[i]))
		}
		return list
	}
	stop := func(list []*exec.Cmd) {
		for _, d := range list {
			d.Process.Kill()
			d.Wait()
		}
	}
	for round := range rounds(20) {
		if round%2 == 0 {
			launches++
			for _, x := range scattered(t, spools, len(nodes)+rng.IntN(8), uint64(round), fmt.Sprintf("hydra n1:%d", 1000+round%4)) {
				all[x] = true
			}
		}
		daemons := start()
		for _, d := range daemons {
			time.Sleep(time.Duration(rng.ExpFloat64() * float64(25*time.Millisecond)))
			d.Process.Kill()
		}
		stop(daemons)
		if len(names(t, store, "*/*"+sealingExt)) > 0 {
			interrupted++
		}
	}
	daemons := start()
	defer func() { stop(daemons) }()
	s := &Store{store}
	waitFor(t, func() bool {
		left := len(names(t, store, jobsDir+"/*")) + len(names(t, store, "[0-9]*/*"))
		for _, spool := range spools {
			left += len(names(t, spool, "*.seg"))
		}
		return left == 0
	})
	found := stored(t, store)
	for x := range all {
		if found[x] != 1 {
			t.Errorf("a process is stored %d times", found[x])
		}
	}
	list, err := s.List()
	if err != nil || len(list) != launches || len(found) != len(all) {
		t.Errorf("%d runs of %d launches, %d processes of %d, %v", len(list), launches, len(found), len(all), err)
	}
	for _, x := range list {
		if x.Unmerged || x.Ranks != x.Size || len(x.Parts) < len(nodes) {
			t.Errorf("%+v", x)
		}
		verify(t, s.RunFile(x.Name))
	}
	waitFor(t, func() bool { return len(names(t, store, ".*.tmp")) == 0 })
	t.Logf("%d launches, %d times killed while sealing", launches, interrupted)
	if interrupted == 0 {
		t.Error("none was killed while it sealed")
	}
}

// While parts are missing the list says so, and the run can be merged manually; the last part
// completes it.
func TestMissingPart(t *testing.T) {
	opt, spools := testOptions(t.TempDir(), ""), nodeSpools(t)
	s := &Store{opt.Store}
	scattered(t, spools, 6, 3, "slurm 17.0")
	for i := range 2 {
		opt.Spool, opt.Node = spools[i], nodes[i]
		serve(t, opt)
	}
	var x Summary
	waitFor(t, func() bool {
		name, err := s.Find("last")
		if err == nil {
			x, _ = s.Unmerged(name)
		}
		return len(x.Parts) == 2
	})
	if x.Ranks != 4 || x.Size != 6 || x.Complete || x.Events == 0 || x.Bytes == 0 || x.Started.IsZero() || x.Ended.Before(x.Started) {
		t.Errorf("%+v", x)
	}
	if want := []string{"part-n1", "part-n2"}; !slices.Equal(x.Parts, want) {
		t.Errorf("parts %v, want %v", x.Parts, want)
	}
	for range 2 { // repeating it changes nothing
		if err := s.Merge(x.Name, merge.Options{Workers: 1}); err != nil {
			t.Fatal(err)
		}
		y, err := s.Summary(x.Name)
		if err != nil || y.Ranks != 4 || y.Size != 6 || y.Complete || y.Unmerged || y.Events != x.Events {
			t.Errorf("%+v, %v", y, err)
		}
	}
	opt.Spool, opt.Node = spools[2], nodes[2]
	serve(t, opt)
	var list []Summary
	waitFor(t, func() bool {
		list, _ = s.List()
		return len(list) == 1 && list[0].Complete
	})
	if y := list[0]; y.Name != x.Name || y.Ranks != 6 || len(y.Parts) != 3 {
		t.Errorf("%+v", y)
	}
	waitFor(t, func() bool { return len(names(t, opt.Store, "[^.]*/*"))+len(names(t, opt.Store, jobsDir+"/*")) == 0 })
	verify(t, s.RunFile(x.Name))
}

// A launch whose name was used before, and a rank that exists already, are not added to another
// launch's run.
func TestOtherLaunch(t *testing.T) {
	opt, spools := testOptions(t.TempDir(), ""), nodeSpools(t)
	s := &Store{opt.Store}
	for number := range uint64(2) { // equal sizes, the same name: each has only n1's part
		segments := simulated(t, t.TempDir(), 4, 3+3*number)
		for x, file := range segments {
			launchOn(t, file, 5, "hydra n1:77")
			if p, err := segment.Read(file); err != nil || p.Rank > 1 {
				delete(segments, x)
			}
		}
		put(t, spools[number], segments)
		opt.Spool, opt.Node = spools[number], nodes[number]
		serve(t, opt)
		waitFor(t, func() bool {
			list, err := s.List()
			return err == nil && len(list) == int(number)+1 && len(names(t, opt.Spool, "*.seg")) == 0
		})
	}
	list, err := s.List()
	if err != nil || len(list) != 2 || list[0].Ranks != 2 || list[1].Ranks != 2 || !list[0].Unmerged || !list[1].Unmerged {
		t.Errorf("%+v, %v", list, err)
	}
	// A launch that is too large to be merged automatically is left to the user, and can be
	// removed.
	for _, x := range list {
		if err := s.remove(x.Name); err != nil {
			t.Error(err)
		}
	}
	if left := append(names(t, s.Dir, "[^.]*"), names(t, s.Dir, jobsDir+"/*")...); len(left) != 0 {
		t.Errorf("%s are left", strings.Join(left, ", "))
	}
}
