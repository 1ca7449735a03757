<?php
// The steps of a lock by phpredis or predis.

require __DIR__ . '/steps.php';

const RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
const EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

interface Client
{
    public function setNX(string $key, string $token, int $ms): bool;
    public function get(string $key): ?string;
    public function pttl(string $key): int;
    public function run(string $script, string $key, ...$args);
    public function load(string $script): string;
    public function evalsha(string $sha, string $key, ...$args);
    public function watched(string $key, callable $meddle);
    public function pipeline(string $key, string $token);
}

final class PhpRedis implements Client
{
    private Redis $c;

    public function __construct(string $host, int $port, int $db = 0)
    {
        $this->c = new Redis();
        $this->c->connect($host, $port, 2.0);
        if (getenv('BENCH_PASSWORD')) {
            $this->c->auth(getenv('BENCH_PASSWORD'));
        }
        $this->c->select($db); // Laravel does so, also for 0
    }

    public function setNX(string $key, string $token, int $ms): bool
    {
        return (bool) $this->c->set($key, $token, ['nx', 'px' => $ms]);
    }

    public function get(string $key): ?string
    {
        $v = $this->c->get($key);
        return $v === false ? null : $v;
    }

    public function pttl(string $key): int
    {
        return $this->c->pttl($key);
    }

    private function checked($reply)
    {
        $error = $this->c->getLastError();
        $this->c->clearLastError();
        if ($error !== null) {
            throw new RuntimeException($error);
        }
        return $reply;
    }

    public function run(string $script, string $key, ...$args)
    {
        return $this->checked($this->c->eval($script, [$key, ...$args], 1));
    }

    public function load(string $script): string
    {
        return $this->c->script('load', $script);
    }

    public function evalsha(string $sha, string $key, ...$args)
    {
        return $this->checked($this->c->evalSha($sha, [$key, ...$args], 1));
    }

    public function watched(string $key, callable $meddle)
    {
        $this->c->watch($key);
        $this->c->get($key);
        $meddle();
        $done = $this->checked($this->c->multi()->pexpire($key, 20000)->exec());
        return $done ?: null;
    }

    public function pipeline(string $key, string $token)
    {
        return $this->c->multi(Redis::PIPELINE)->set($key, $token, ['nx', 'px' => 30000])->get($key)->del($key)->exec();
    }
}

final class PRedis implements Client
{
    private Predis\Client $c;

    public function __construct(string $host, int $port, int $db = 0)
    {
        $this->c = new Predis\Client(['host' => $host, 'port' => $port, 'database' => $db, 'password' => getenv('BENCH_PASSWORD') ?: null]);
    }

    public function setNX(string $key, string $token, int $ms): bool
    {
        return $this->c->set($key, $token, 'PX', $ms, 'NX') !== null;
    }

    public function get(string $key): ?string
    {
        return $this->c->get($key);
    }

    public function pttl(string $key): int
    {
        return $this->c->pttl($key);
    }

    public function run(string $script, string $key, ...$args)
    {
        return $this->c->eval($script, 1, $key, ...$args);
    }

    public function load(string $script): string
    {
        return $this->c->script('load', $script);
    }

    public function evalsha(string $sha, string $key, ...$args)
    {
        return $this->c->evalsha($sha, 1, $key, ...$args);
    }

    public function watched(string $key, callable $meddle)
    {
        try {
            return $this->c->transaction(['cas' => true, 'watch' => $key], function ($t) use ($key, $meddle) {
                $t->get($key);
                $meddle();
                $t->multi();
                $t->pexpire($key, 20000);
            });
        } catch (Predis\Transaction\AbortedMultiExecException $e) {
            return null;
        }
    }

    public function pipeline(string $key, string $token)
    {
        $all = $this->c->pipeline(function ($p) use ($key, $token) {
            $p->set($key, $token, 'PX', 30000, 'NX');
            $p->get($key);
            $p->del([$key]);
        });
        return [(string) $all[0], $all[1], $all[2]];
    }
}

if ($own[0] === 'predis') {
    require_once 'Predis/Autoloader.php';
    Predis\Autoloader::register();
    tell('version', Predis\Client::VERSION);
    $open = fn (int $db = 0) => new PRedis($host, $port, $db);
} else {
    tell('version', phpversion('redis'));
    $open = fn (int $db = 0) => new PhpRedis($host, $port, $db);
}

$c = $open();
$key = $prefix . 'raw';
step('take', fn () => $c->setNX($key, 'one', 30000));
step('refuse', fn () => $c->setNX($key, 'two', 30000));
step('query', fn () => $c->get($key));
step('ttl', fn () => $c->pttl($key) > 25000 && $c->pttl($key) <= 30000);
step('extend', fn () => $c->run(EXTEND, $key, 'one', 60000));
step('extended', fn () => $c->pttl($key) > 55000 && $c->pttl($key) <= 60000);
step('extend wrong', fn () => $c->run(EXTEND, $key, 'two', 60000));
step('extend missing', fn () => $c->run(EXTEND, $key . 'none', 'one', 60000));
step('release wrong', fn () => $c->run(RELEASE, $key, 'two'));
step('release', fn () => $c->run(RELEASE, $key, 'one'));
step('release missing', fn () => $c->run(RELEASE, $key, 'one'));
step('query missing', fn () => $c->get($key));
refused('unknown hash', fn () => $c->evalsha('0123456789012345678901234567890123456789', $key, 'one'));
$sha = step('load', fn () => $c->load(RELEASE . ' '));
$c->setNX($key, 'one', 30000);
step('by hash', fn () => $c->evalsha($sha, $key, 'one'));
step('by hash, missing', fn () => $c->evalsha($sha, $key, 'one'));
$c->setNX($key, 'one', 30000);
$meddler = $open();
step('transaction', fn () => $c->watched($key, fn () => null));
step('transaction, changed', fn () => $c->watched($key, function () use ($meddler, $key) {
    $meddler->run(RELEASE, $key, 'one');
    $meddler->setNX($key, 'two', 30000);
}));
step('still held', fn () => $c->get($key));
$other = $open(1);
step('database, query', fn () => $other->get($key));
step('database, take', fn () => $other->setNX($key, 'one', 30000));
step('database, release', fn () => $other->run(RELEASE, $key, 'one'));
step('database, still held', fn () => $c->get($key));
$c->run(RELEASE, $key, 'two');
step('pipeline', fn () => $c->pipeline($key, 'one'));

$c->setNX($key, 'short', 200);
step('expire, before', fn () => $c->setNX($key, 'two', 30000));
step('expire', fn () => poll(fn () => $c->setNX($key, 'two', 30000)));
step('wait', fn () => waitFor(fn () => $open()->run(RELEASE, $key, 'two'), fn () => poll(fn () => $c->setNX($key, 'three', 30000))));
$c->run(RELEASE, $key, 'three');
foreach (['many, unique tokens' => 'worker ', 'many, equal tokens' => null] as $name => $token) {
    step($name, fn () => contest(function (int $w, int $rounds, callable $inside) use ($open, $key, $token) {
        $mine = $open();
        $token = $token === null ? 'the same' : $token . $w;
        for ($i = 0; $i < $rounds; $i++) {
            poll(fn () => $mine->setNX($key, $token, 30000), 20);
            $inside();
            if ($mine->run(RELEASE, $key, $token) !== 1) {
                throw new RuntimeException('release was not 1');
            }
        }
    }));
}
