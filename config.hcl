# The complete configuration of redlockd. The settings shown are the defaults;
# those that are commented out have no value by default. Check your own file with
#   redlockd -check -config FILE
#
# Durations are strings with a unit: "50ms", "10s", "5m", "1h".
# env("NAME") is the value of an environment variable, which must be set.

listen {
  # Where clients connect, as host:port. Without a password only 127.0.0.1,
  # ::1 or localhost is allowed. The flag -listen overrides it.
  address = "127.0.0.1:6380"

  # A Unix socket beside it, for clients on this host, and who may connect to
  # it, as for chmod: the owner and the group of the process. It has no TLS. With
  # address = "" there is no other address.
  # unix = "/run/redlockd/redlockd.sock"
  mode = "0660"

  # Where clients have several redlockd to go to: if no lock can be taken for
  # this long, and one could before, end all sessions and accept none until one
  # can be taken. "0s" means never: clients stay, and are answered NOQUORUM.
  step_aside = "0s"

  # What clients send with AUTH, or as the password in their URL; clients with
  # this password may do everything. A list of passwords is allowed, of which
  # each is valid. To keep a password out of the file, write "#" and its SHA-256
  # in hexadecimal. password_file is the name of a file with one password in
  # each line.
  # password = env("REDLOCKD_PASSWORD")

  # More users, for AUTH name password. Each may use the keys that match one of
  # the patterns in keys (*, ?, [a-z]), the channels that match one in channels,
  # and these operations: acquire; extend and release, by the lock's token;
  # read; remove (DEL, PEXPIRE and SET without a token); admin (information on
  # other clients). A script needs the rights for what it does. With users and
  # without a password above, a user name is required.
  # user "orders" {
  #   password   = env("ORDERS_PASSWORD") # or password_file
  #   keys       = ["locks:orders:*"]
  #   channels   = []                     # for PUBLISH and SUBSCRIBE
  #   operations = ["acquire", "extend", "release"]
  # }

  # Limits that keep one client from hurting the others.
  max_clients       = 10000     # sessions; further ones are rejected. Lowered at
                                # the start if the system allows too few open files
  max_pending       = 1000      # sessions that are not logged in, or in the TLS
                                # handshake; for one more, an older one is closed
  max_memory        = 268435456 # bytes of waiting commands and replies, of all
                                # sessions together
  max_command_bytes = 1048576   # one command with all its arguments, or what
                                # follows one MULTI
  max_arguments     = 1024      # of one command
  max_key_bytes     = 4096      # one key; at most max_command_bytes
  max_token_bytes   = 4096      # one token; at most max_command_bytes
  max_pipeline      = 1024      # commands of one session that wait for a reply

  idle_timeout  = "1h"  # close sessions that send nothing; "0s" means never
  login_timeout = "30s" # close sessions that have not logged in, or not
                        # completed the TLS handshake
  write_timeout = "10s" # close sessions that do not read their replies

  slowlog_slower_than = "10ms" # SLOWLOG keeps commands that take this long or
                               # longer; "0s" keeps all

  # How long a stop (SIGTERM) waits for commands that are under way. At least
  # timeout + retry_budget.
  drain = "10s"

  # TLS, for every client of this address. Files in PEM form; relative names
  # are relative to the working directory. They are reloaded when they change
  # and on SIGHUP; sessions stay. With client_ca, clients need a certificate
  # signed by one of these authorities.
  # tls {
  #   cert      = "/etc/redlockd/cert.pem" # with its chain
  #   key       = "/etc/redlockd/key.pem"
  #   client_ca = "/etc/redlockd/clients.pem"
  # }
}

quorum {
  # How long one attempt on all masters may take. Longer than the slowest
  # round trip that is still normal; far shorter than the shortest TTL, since
  # the masters keep a lock for two timeouts more.
  timeout = "50ms"

  # By how much two clocks may differ in speed: 0.01 is one percent.
  clock_drift = 0.01

  # The greatest TTL a client may ask for, 24h at most. A master that may have
  # forgotten its locks does not vote for as long as the longest lock that was
  # ever granted; it waits for max_ttl only if no master remembers how long that
  # was. The first lock above 5 minutes needs all masters, which must record it.
  max_ttl = "24h"

  # How long redlockd retries when several clients have split the votes between
  # them, before it replies NOQUORUM. It does not lengthen how long masters keep
  # a lock.
  retry_budget = "200ms"

  # What happens to SETNX and SET NX without an expiry: "reject" answers with
  # an error; "max_ttl" gives the lock the greatest TTL. A crashed client then
  # keeps its lock for that long, so set max_ttl to minutes. A command with a TTL
  # above max_ttl is an error with both.
  no_expiry = "reject"

  # How long a changed list of masters is announced before the old one no
  # longer counts: the time to reload every redlockd.
  handover = "1m"

  # Commands to reject, of those that change a lock without its token: del,
  # unlink, expire, pexpire, expireat, pexpireat, persist, set, setex, psetex,
  # getset, getdel, delex, getex, msetex. set includes msetex, pexpire getex.
  # Scripts are not covered: the rights of users are.
  deny = []
}

# The masters: independent Redis (6.2 or newer) or Valkey (7.2 or newer)
# servers, on different hosts, without replication between them. 3, 5 or 7 of
# them; a majority must be healthy. Every redlockd lists the same ones. An empty
# server may take the place of one that is gone for good, under the same name: it
# waits like one that restarted, and then votes. Masters are added, removed or
# replaced one at a time, while locks are held: change the file and SIGHUP
# every redlockd (docs/operations.md).

master "a" {
  address = "127.0.0.1:7001"

  # For a master with users (docs/acl.md) or a password:
  # username = "redlockd"
  # password = env("MASTER_PASSWORD")

  # No lock is taken or extended without this master's agreement, in addition
  # to the majority's. At most one master may be required: the old lock Redis,
  # while some clients still use it directly (docs/operations.md, moving in).
  required = false

  # Let the master vote although it may evict keys (maxmemory with a policy
  # other than noeviction): an evicted lock is a lost one.
  allow_eviction = false

  # For a master that uses TLS. Without ca the system's authorities are used;
  # cert and key are for a master that requires a client certificate;
  # server_name is the name in its certificate, if not the host of address.
  # tls {
  #   ca          = "/etc/redlockd/masters.pem"
  #   cert        = "/etc/redlockd/cert.pem"
  #   key         = "/etc/redlockd/key.pem"
  #   server_name = "redis-a.example.org"
  # }
}

master "b" {
  address = "127.0.0.1:7002"
}

master "c" {
  address = "127.0.0.1:7003"
}

master "d" {
  address = "127.0.0.1:7004"
}

master "e" {
  address = "127.0.0.1:7005"
}

# An address for operators, by HTTP: the status page, /metrics for Prometheus,
# /healthz (alive) and /readyz (a majority of the masters votes). There is none
# without this block.
admin {
  # Without a password, or tls with client_ca, only this host may be served, as
  # localhost or an IP address and under no other name. If the default address is
  # in use, redlockd logs a warning and takes a free port; if another one is, it
  # does not start.
  address = "127.0.0.1:9736"

  # For HTTP basic authentication, with any user name. Who does not send it gets
  # only yes or no from /healthz and /readyz, and nothing else.
  # password = env("REDLOCKD_ADMIN_PASSWORD")

  pprof = false # true serves Go's profiles under /debug/pprof/

  # For which locks it is told apart how long they are waited for and held, by
  # patterns of their keys (*, ?, [a-z]): 16 at most, of which the first one
  # counts. All other locks are told together.
  # patterns = ["locks:orders:*", "locks:*"]

  # tls {
  #   cert      = "/etc/redlockd/cert.pem"
  #   key       = "/etc/redlockd/key.pem"
  #   client_ca = "/etc/redlockd/operators.pem"
  # }
}

# SIGHUP reloads this file. Certificates, masters, users, passwords, the limits
# of listen, step_aside and log.level change at once; every other change is named in
# the log and waits for the next start.

log {
  # The least important lines to write: trace, debug, info, warn or error.
  level = "info"

  # One JSON object per line instead of text.
  json = false
}
