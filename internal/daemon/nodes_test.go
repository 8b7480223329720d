package daemon

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/groundtruth"
)

// cluster consists of machines made from namespaces of this one: each has its own name, network
// device, /dev/shm and /etc/hosts. They share the rest of the file system.
type cluster struct {
	dir     string
	holders map[string]*exec.Cmd // processes that keep the namespaces alive, by name
}

// newCluster makes machines that are connected by a bridge.
func newCluster(t *testing.T, names ...string) *cluster {
	t.Helper()
	c := &cluster{t.TempDir(), map[string]*exec.Cmd{}}
	hosts := "127.0.0.1 localhost\n"
	for i, name := range names {
		hosts += fmt.Sprintf("10.99.0.%d %s\n", i+1, name)
	}
	write(t, c.dir+"/hosts", []byte(hosts))
	c.hold(t, "switch", "")
	c.sh(t, "switch", "ip link add bridge type bridge && ip link set bridge up")
	for i, name := range names {
		c.hold(t, name, "mount --make-rprivate / && mount -t tmpfs tmpfs /dev/shm && mount --bind "+c.dir+"/hosts /etc/hosts && hostname "+name)
		c.sh(t, "switch", fmt.Sprintf("ip link add port%d type veth peer name eth0 netns %d && ip link set port%d master bridge up", i, c.holders[name].Process.Pid, i))
		c.sh(t, name, fmt.Sprintf("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 && ip link set lo up && ip addr add 10.99.0.%d/24 dev eth0 && ip link set eth0 up", i+1))
	}
	script := "#!/bin/sh\n# What mpiexec starts in place of ssh: [OPTION ...] HOST COMMAND ...\n" +
		"while case $1 in -*) true ;; *) false ;; esac; do shift; done\n" +
		"pid=$(cat " + c.dir + "/$1.pid)\nshift\nexec nsenter -t $pid -m -u -n sh -c \"$*\"\n"
	write(t, c.dir+"/enter", []byte(script))
	if err := os.Chmod(c.dir+"/enter", 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

// hold starts a process in new namespaces; it does not end by itself.
func (c *cluster) hold(t *testing.T, name, prepare string) {
	t.Helper()
	if prepare == "" {
		prepare = "true"
	}
	cmd := exec.Command("unshare", "-m", "-u", "-n", "sh", "-c", prepare+" && echo ready && exec sleep infinity")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatalf("no namespaces: %v (this test needs to be root)", err)
	}
	c.holders[name] = cmd
	write(t, c.dir+"/"+name+".pid", fmt.Append(nil, cmd.Process.Pid))
}

// on returns a command on a machine.
func (c *cluster) on(name string, args ...string) *exec.Cmd {
	pid := fmt.Sprint(c.holders[name].Process.Pid)
	return exec.Command("nsenter", append([]string{"-t", pid, "-m", "-u", "-n"}, args...)...)
}

func (c *cluster) sh(t *testing.T, name, script string) string {
	t.Helper()
	out, err := c.on(name, "sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", name, script, err, out)
	}
	return string(out)
}

// daemon starts the daemon of a machine and waits until programs know everything that they need
// to record: only from then on do they work without a daemon.
func (c *cluster) daemon(t *testing.T, name, program, store string) (kill func()) {
	t.Helper()
	cmd := c.on(name, program, "daemon", "--store", store, "--quiet", "1s")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		if !killed {
			killed = true
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			t.Logf("%s:\n%s", name, log.String())
		}
	})
	s := &Store{store}
	waitFor(t, func() bool {
		x, err := s.stateOf(name)
		return err == nil && x.PID == cmd.Process.Pid && c.on(name, "grep", "-q", "^EFG_BUILDING=0", x.Spool+"/hook").Run() == nil
	})
	return kill
}

// launch returns a launcher that starts five processes on the machines of a cluster.
func (c *cluster) launch(m groundtruth.MPI, env []string, program ...string) *exec.Cmd {
	const hosts = "n1:2,n2:2,n3:1"
	line := []string{"mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", c.dir + "/enter", "-hosts", hosts, "-n", "5"}
	if m.Name == "openmpi" {
		line = []string{"mpiexec.openmpi", "--oversubscribe", "--mca", "plm_rsh_agent", c.dir + "/enter", "-H", hosts, "-n", "5", "-x", "LD_PRELOAD"}
	}
	cmd := c.on("n1", append(append([]string{"env"}, env...), append(line, program...)...)...)
	cmd.Env = append(append(os.Environ(), "UCX_NET_DEVICES=eth0"), m.Env...)
	return cmd
}

// onMachines prepares machines, the programs and the file to preload.
func onMachines(t *testing.T) (c *cluster, root, program, front string) {
	t.Helper()
	root, err := groundtruth.Root()
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "efg")
	build := exec.Command("go", "build", "-o", program, "./cmd/efg")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	path, err := exec.Command(program, "hook", "path").Output()
	if err != nil {
		t.Fatal(err)
	}
	return newCluster(t, nodes...), root, program, strings.TrimSpace(string(path))
}

// whole waits until a store has one run, with all machines.
func whole(t *testing.T, s *Store) (x Summary) {
	t.Helper()
	waitFor(t, func() bool {
		list, err := s.List()
		if err == nil && len(list) == 1 {
			x = list[0]
		}
		return x.Complete
	})
	if x.Ranks != 5 || x.Unmerged || len(x.Parts) != 3 {
		t.Errorf("%+v", x)
	}
	checkHosts(t, s.RunFile(x.Name))
	return x
}

// A launch on three machines, one of whose daemons is killed while it runs and restarted: the
// parts become one run with everything that an independent logger has seen.
func TestSeveralMachines(t *testing.T) {
	c, root, program, front := onMachines(t)
	b, err := groundtruth.NewBench(t.Context(), groundtruth.Installed()[1], root, t.TempDir(), program)
	if err != nil {
		t.Fatal(err)
	}
	s, logs := &Store{t.TempDir()}, t.TempDir()
	app, err := b.Build(t.Context(), "c/stuck.c")
	if err != nil {
		t.Fatal(err)
	}
	kill := map[string]func(){}
	for _, n := range nodes {
		kill[n] = c.daemon(t, n, program, s.Dir)
	}
	job := c.launch(b.MPI, []string{"LD_PRELOAD=" + b.Logger + ":" + b.Yield + ":" + front, "LOGGER_DIR=" + logs}, app, "slow", "1")
	var out bytes.Buffer
	job.Stdout, job.Stderr = &out, &out
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(names(t, logs, "*.process")) == 5 })
	kill["n2"]()
	if err := job.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	waitFor(t, func() bool { // the others have done their part
		name, err := s.Find("last")
		if err != nil {
			return false
		}
		x, ok := s.Unmerged(name)
		return ok && x.Ranks == 3 && x.Size == 5
	})
	kill["n2"] = c.daemon(t, "n2", program, s.Dir)
	x := whole(t, s)
	found, err := b.Check(t.Context(), s.RunFile(x.Name), logs, false)
	if err != nil {
		t.Fatal(err)
	}
	if found.Events == 0 || len(found.Differences) > 0 {
		t.Errorf("%d events compared; %s", found.Events, strings.Join(found.Differences, "; "))
	}
	for _, n := range nodes {
		kill[n]()
	}
	c.openMPI(t, program, front)
}

// openMPI does the same with Open MPI's launcher, without killing anything.
func (c *cluster) openMPI(t *testing.T, program, front string) {
	m, s := groundtruth.Installed()[0], &Store{t.TempDir()}
	for _, n := range nodes {
		c.daemon(t, n, program, s.Dir)
	}
	job := c.launch(m, []string{"LD_PRELOAD=" + front}, compile(t, m, "jacobi.c"), "20")
	if out, err := job.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	verify(t, s.RunFile(whole(t, s).Name))
}

// checkHosts demands that a run has processes of all machines.
func checkHosts(t *testing.T, file string) {
	t.Helper()
	run, err := runfile.OpenRun(file)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	count := map[string]int{}
	for i := range run.Procs {
		count[run.Procs[i].Host]++
	}
	if count["n1"] != 2 || count["n2"] != 2 || count["n3"] != 1 {
		t.Errorf("%s has processes of %v", filepath.Base(file), count)
	}
}
