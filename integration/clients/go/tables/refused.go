package main

// What redlockd refuses, as libraries send it that are not among those that are run.

func init() {
	scripts["Discourse DistributedMutex"] = []script{{"acquire", 1, `
		local now = tonumber(redis.call('TIME')[1])
		local until_ = tonumber(redis.call('GET', KEYS[1]) or 0)
		if until_ >= now then return nil end
		redis.call('SETEX', KEYS[1], ARGV[1] + 1, now + ARGV[1])
		return 1`, []string{"60"}}}
	sequences["readers in a set"] = []sequence{
		{"read", []string{"SADD $key one", "PEXPIRE $key 60000", "SCARD $key", "SREM $key one"}},
	}
	sequences["Nextcloud, shared locks"] = []sequence{
		{"share", []string{"INCRBY $key 1", "EXPIRE $key 60", "INCRBY $key 1", "GET $key", "DEL $key"}},
	}
	sequences["Redis Functions"] = []sequence{
		{"load and call", []string{"FUNCTION LOAD REPLACE $function", "FCALL clients_answer 0"}},
	}
	sequences["a token in a list"] = []sequence{
		{"take", []string{"BRPOPLPUSH $key $key:taken 0.01"}},
	}
	sequences["CLIENT KILL"] = []sequence{
		{"kill", []string{"CLIENT KILL ID 999999999"}},
	}
}

// function is a library of Redis Functions.
const function = "#!lua name=clients\nredis.register_function('clients_answer', function() return 1 end)"
