package address

import "testing"

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"127.0.0.1:7001", "127.0.0.1:7001", true},
		{"127.0.0.1:7001", "127.0.0.1:07001", true},
		{"127.0.0.1:7001", "127.0.0.1:7002", false},
		{"localhost:7001", "127.0.0.1:7001", true},
		{"LocalHost.:7001", "[::1]:7001", true},
		{"a.localhost:7001", "127.0.0.1:7001", true},
		{"127.0.0.1:7001", "[::1]:7001", false},
		{"127.0.0.1:7001", "127.0.0.2:7001", false},
		{"127.0.0.1:7001", "[::ffff:127.0.0.1]:7001", true},
		{"[0:0:0:0:0:0:0:1]:7001", "[::1]:7001", true},
		{"0.0.0.0:7001", "127.0.0.1:7001", true},
		{":7001", "[::1]:7001", true},
		{"0.0.0.0:7001", "10.0.0.1:7001", false},
		{"redis-a.example.org:7001", "Redis-A.example.org.:7001", true},
		{"redis-a.example.org:7001", "redis-b.example.org:7001", false},
		{"redis-a.example.org:7001", "10.0.0.1:7001", false},
		{"no port", "no port", true},
		{"no port", "none either", false},
	} {
		if Same(c.a, c.b) != c.want || Same(c.b, c.a) != c.want {
			t.Errorf("%s and %s are the same: want %v", c.a, c.b, c.want)
		}
	}
}

func TestReaches(t *testing.T) {
	for _, c := range []struct {
		to, listen string
		want       bool
	}{
		{"127.0.0.1:6380", "127.0.0.1:6380", true},
		{"localhost:6380", "127.0.0.1:6380", true},
		{"127.0.0.1:6380", "0.0.0.0:6380", true},
		{"127.0.0.2:6380", "0.0.0.0:6380", true},
		{"127.0.0.1:6380", "[::]:6380", true},
		{"[::1]:6380", ":6380", true},
		{"[::1]:6380", "0.0.0.0:6380", false},
		{"localhost:6380", "localhost:6380", true},
		{"0.0.0.0:6380", "127.0.0.1:6380", true},
		{"10.0.0.1:6380", "10.0.0.1:6380", true},
		{"10.0.0.1:6380", "0.0.0.0:6380", false}, // whose address that is is not known
		{"10.0.0.1:6380", "127.0.0.1:6380", false},
		{"127.0.0.1:6379", "127.0.0.1:6380", false},
		{"127.0.0.1:0", "127.0.0.1:0", false},
	} {
		if Reaches(c.to, c.listen) != c.want {
			t.Errorf("%s reaches what listens at %s: want %v", c.to, c.listen, c.want)
		}
	}
}

func TestCollide(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"127.0.0.1:6380", "127.0.0.1:6380", true},
		{"127.0.0.1:6380", "localhost:6380", true},
		{"127.0.0.1:6380", ":6380", true},
		{"10.0.0.1:6380", "0.0.0.0:6380", true},
		{"0.0.0.0:6380", "[::]:6380", true},
		{"0.0.0.0:6380", "[::1]:6380", false},
		{"127.0.0.1:6380", "10.0.0.1:6380", false},
		{"127.0.0.1:6380", "127.0.0.1:9736", false},
		{"127.0.0.1:0", "127.0.0.1:0", false},
	} {
		if Collide(c.a, c.b) != c.want || Collide(c.b, c.a) != c.want {
			t.Errorf("%s and %s collide: want %v", c.a, c.b, c.want)
		}
	}
}
