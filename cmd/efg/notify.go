package main

import (
	"log/slog"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// notifier reports the state of a daemon to systemd, if that has started this process.
type notifier struct {
	every time.Duration // interval of systemd's watchdog; 0 if there is none
	next  time.Time
	log   *slog.Logger
}

func newNotifier(log *slog.Logger) *notifier {
	n := &notifier{log: log}
	limit, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("cannot notify systemd that the daemon is ready", "problem", err)
	}
	n.every = limit / 2
	return n
}

// notify sends a message; without systemd it does nothing.
func (n *notifier) notify(state string) {
	if _, err := systemd.SdNotify(false, state); err != nil {
		n.log.Warn("cannot notify systemd", "state", state, "problem", err)
	}
}

// ready reports that programs started from now on are recorded into a spool.
func (n *notifier) ready(spool string) { n.text("recording into " + spool) }

func (n *notifier) text(status string) { n.notify(systemd.SdNotifyReady + "\nSTATUS=" + status) }

// works is called at each step of the daemon's work.
func (n *notifier) works(now time.Time) {
	if n.every > 0 && now.After(n.next) {
		n.next = now.Add(n.every)
		n.notify(systemd.SdNotifyWatchdog)
	}
}

func (n *notifier) stopping() { n.notify(systemd.SdNotifyStopping) }
