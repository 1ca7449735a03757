# Both redlockd of compose.yaml. All other settings: config.hcl at the root of
# the sources, whose values are the defaults.

listen {
  address  = "0.0.0.0:6380"
  password = env("REDLOCKD_PASSWORD")

  # Clients have another redlockd to go to.
  step_aside = "2s"
}

quorum {
  # The longest TTL that your clients ask for:
  max_ttl = "5m"
}

master "a" {
  address  = "master-a:6379"
  password = env("MASTER_PASSWORD")
}

master "b" {
  address  = "master-b:6379"
  password = env("MASTER_PASSWORD")
}

master "c" {
  address  = "master-c:6379"
  password = env("MASTER_PASSWORD")
}

master "d" {
  address  = "master-d:6379"
  password = env("MASTER_PASSWORD")
}

master "e" {
  address  = "master-e:6379"
  password = env("MASTER_PASSWORD")
}

admin {
  address  = "0.0.0.0:9736"
  password = env("REDLOCKD_ADMIN_PASSWORD")
}
