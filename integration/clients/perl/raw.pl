# The steps of a lock by Redis.pm.

use strict;
use warnings;
use JSON::PP ();
use POSIX    ();
use Redis;
use Time::HiRes qw(sleep time);

$| = 1;
my ($host, $port, $prefix) = @ARGV[-3 .. -1];
my $key     = "${prefix}raw";
my $RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
my $EXTEND  = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";
my $json    = JSON::PP->new->canonical->allow_nonref;

sub tell_step { my ($step, $result) = @_; print $json->encode({$step => $result}), "\n" }

sub step {
    my ($name, $call) = @_;
    my $result = eval { $call->() };
    $result = "FAILED $@" =~ s/ at \S+ line.*//sr if $@;
    tell_step($name, $result);
    return $result;
}

# refused tells the error that the call should end with.
sub refused {
    my ($name, $call) = @_;
    my $result = eval { $call->() };
    tell_step($name, $@ ? $@ =~ s/ at \S+ line.*//sr : "FAILED: no error, but $result");
}

# poll calls until it is true. The masters keep a lock a little longer.
sub poll {
    my ($call, $seconds) = @_;
    for (my $end = time + ($seconds // 10) ; !$call->() ; sleep 0.005) {
        die "still refused\n" if time > $end;
    }
    return JSON::PP::true;
}

sub connection { my $c = Redis->new(server => "$host:$port", $ENV{BENCH_PASSWORD} ? (password => $ENV{BENCH_PASSWORD}) : ()); $c->select($_[0]) if $_[0]; return $c }
sub take { my ($c, $token, $ms) = @_; return $c->set($key, $token, 'NX', 'PX', $ms // 30000) }
sub release { my ($c, $token) = @_; return $c->eval($RELEASE, 1, $key, $token) }
sub between { my ($c, $low, $high) = @_; my $ms = $c->pttl($key); return $ms > $low && $ms <= $high ? JSON::PP::true : $ms }

# contest lets processes want one lock at once; a file that only its creator
# may have shows two holders.
sub contest {
    my ($token) = @_;
    my $file = "/tmp/bench-perl-$$";
    my @children;
    for my $w (0 .. 3) {
        my $child = fork // die "fork: $!";
        if ($child) { push @children, $child; next }
        my $bad = eval {
            my $c   = connection();
            my $bad = 0;
            for (1 .. 5) {
                poll(sub { take($c, $token->($w)) }, 20);
                if (sysopen my $h, $file, POSIX::O_CREAT | POSIX::O_EXCL) { sleep 0.001; close $h; unlink $file }
                else                                                       { $bad++ }
                release($c, $token->($w)) == 1 or die "release was not 1";
            }
            $bad;
        };
        POSIX::_exit($@ ? 100 : $bad);
    }
    my $bad = 0;
    for (@children) { waitpid $_, 0; $bad += $? >> 8 }
    return {workers => 4, rounds => 5, 'two at once' => $bad};
}

tell_step('version', $Redis::VERSION);
my $c = connection();
step('take',            sub { take($c, 'one') });
step('refuse',          sub { take($c, 'two') });
step('query',           sub { $c->get($key) });
step('ttl',             sub { between($c, 25000, 30000) });
step('extend',          sub { $c->eval($EXTEND, 1, $key, 'one', 60000) });
step('extended',        sub { between($c, 55000, 60000) });
step('extend wrong',    sub { $c->eval($EXTEND, 1, $key, 'two', 60000) });
step('extend missing',  sub { $c->eval($EXTEND, 1, "${key}none", 'one', 60000) });
step('release wrong',   sub { release($c, 'two') });
step('release',         sub { release($c, 'one') });
step('release missing', sub { release($c, 'one') });
step('query missing',   sub { $c->get($key) });
refused('unknown hash', sub { $c->evalsha('0123456789012345678901234567890123456789', 1, $key, 'one') });
my $sha = step('load', sub { $c->script_load("$RELEASE ") });
take($c, 'one');
step('by hash',          sub { $c->evalsha($sha, 1, $key, 'one') });
step('by hash, missing', sub { $c->evalsha($sha, 1, $key, 'one') });

sub watched {
    my ($meddle) = @_;
    $c->watch($key);
    $c->get($key);
    $meddle->();
    $c->multi;
    $c->pexpire($key, 20000);
    return $c->exec;
}
take($c, 'one');
my $meddler = connection();
step('transaction', sub { [watched(sub { })] });
step('transaction, changed', sub { [watched(sub { release($meddler, 'one'); take($meddler, 'two') })] });
step('still held', sub { $c->get($key) });
my $other = connection(1);
step('database, query',      sub { $other->get($key) });
step('database, take',       sub { take($other, 'one') });
step('database, release',    sub { release($other, 'one') });
step('database, still held', sub { $c->get($key) });
release($c, 'two');
step(
    'pipeline',
    sub {
        my @all;
        my $keep = sub { push @all, $_[1] // $_[0] };
        $c->set($key, 'one', 'NX', 'PX', 30000, $keep);
        $c->get($key, $keep);
        $c->del($key, $keep);
        $c->wait_all_responses;
        return \@all;
    }
);
take($c, 'short', 200);
step('expire, before', sub { take($c, 'two') });
step('expire', sub { poll(sub { take($c, 'two') }) });
step('wait', sub {
    my $start = time;
    my $child = fork // die "fork: $!";
    if (!$child) { sleep 0.3; release(connection(), 'two'); POSIX::_exit(0) }
    poll(sub { take($c, 'three') });
    waitpid $child, 0;
    return time - $start >= 0.29 ? JSON::PP::true : JSON::PP::false;
});
release($c, 'three');
step('many, unique tokens', sub { contest(sub { "worker $_[0]" }) });
step('many, equal tokens',  sub { contest(sub { 'the same' }) });
