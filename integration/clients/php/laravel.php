<?php
// Laravel's cache lock, over phpredis or predis.

error_reporting(E_ALL & ~E_DEPRECATED); // this Laravel is older than this PHP
require __DIR__ . '/steps.php';
require_once 'Illuminate/Redis/autoload.php';
require_once 'Illuminate/Cache/autoload.php';
require_once 'Predis/Autoloader.php';
Predis\Autoloader::register();

use Illuminate\Cache\RedisStore;
use Illuminate\Redis\RedisManager;

function store(): RedisStore
{
    global $own, $host, $port, $prefix;
    $manager = new RedisManager(null, $own[0], [
        'options' => ['prefix' => $prefix],
        'default' => ['host' => $host, 'port' => $port, 'database' => 0],
    ]);
    return new RedisStore($manager, 'laravel:');
}

tell('version', trim((string) shell_exec("dpkg-query -W -f '\${source:Upstream-Version}' php-illuminate-cache")));
$s = store();
$mine = $s->lock('a', 30);
$other = $s->lock('a', 30);
step('take', fn () => $mine->get());
step('refuse', fn () => $other->get());
step('release wrong', fn () => $other->release());
step('release', fn () => $mine->release());
step('release missing', fn () => $mine->release());
step('take again', fn () => $other->get());
step('restored by its owner', fn () => $s->restoreLock('a', $other->owner())->release());
step('take once more', fn () => $mine->get());
step('force release', fn () => $other->forceRelease());
step('free', fn () => $other->get());
step('wait', fn () => waitFor(fn () => store()->restoreLock('a', $other->owner())->release(), fn () => $mine->block(5)));
refused('wait in vain', fn () => $s->lock('a', 30)->block(1));
step('release after waiting', fn () => $mine->release());
step('take for a second', fn () => $s->lock('b', 1)->get());
step('expire, before', fn () => $s->lock('b', 30)->get());
step('expire', fn () => poll(fn () => $s->lock('b', 30)->get()));
step('without an end, take', fn () => $s->lock('c')->get());
step('without an end, refuse', fn () => $s->lock('c')->get());
step('without an end, force release', fn () => $s->lock('c')->forceRelease());
step('add', fn () => $s->add('value', 'one', 30));
step('add again', fn () => $s->add('value', 'two', 30));
step('forget', fn () => $s->forget('value'));
step('many, unique tokens', fn () => contest(function (int $w, int $rounds, callable $inside) {
    $s = store();
    for ($i = 0; $i < $rounds; $i++) {
        $lock = $s->lock('many', 30)->betweenBlockedAttemptsSleepFor(10);
        $lock->block(20);
        $inside();
        if (!$lock->release()) {
            throw new RuntimeException('not released');
        }
    }
}));
