package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
)

// redis starts a Redis that redlockd is compared with.
func (r *rig) redis(args ...string) (*server, error) { return r.launchRedis("redis-server", args) }

// master starts a master: a Redis, or the server that REDIS_SERVER names.
func (r *rig) master() (*server, error) {
	return r.launchRedis(cmp.Or(os.Getenv("REDIS_SERVER"), "redis-server"), nil)
}

func (r *rig) launchRedis(program string, args []string) (*server, error) {
	dir, err := os.MkdirTemp(r.dir, "redis")
	if err != nil {
		return nil, err
	}
	port := freePort()
	s := &server{addr: fmt.Sprintf("127.0.0.1:%d", port), log: filepath.Join(dir, "log")}
	s.cmd = exec.Command(program, append([]string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", dir,
		"--save", "", "--appendonly", "no", "--logfile", s.log}, args...)...)
	if err := r.launch(s); err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return s, s.waitAnswer()
}

var listening = regexp.MustCompile(`address = "(127\.0\.0\.1:\d+)"`)

func (r *rig) redlockd(binary, config string) (*server, error) {
	text, err := os.ReadFile(config)
	if err != nil {
		return nil, err
	}
	s := &server{addr: listening.FindStringSubmatch(string(text))[1], log: config + ".log"}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own
	s.cmd = exec.Command(binary, "-config", config)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := r.launch(s); err != nil {
		return nil, err
	}
	return s, s.waitAnswer()
}

// launch starts the process in a group of its own, so that a Ctrl-C reaches
// the runner alone, which then stops everything.
func (r *rig) launch(s *server) error {
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	r.everything = append(r.everything, s)
	return nil
}
