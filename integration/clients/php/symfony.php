<?php
// Symfony's Lock over phpredis, which redlockd refuses.

require __DIR__ . '/steps.php';
require_once 'Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

tell('version', trim((string) shell_exec("dpkg-query -W -f '\${source:Upstream-Version}' php-symfony-lock")));
$redis = new Redis();
$redis->connect($host, (int) $port);
$mine = (new LockFactory(new RedisStore($redis)))->createLock($prefix . 'symfony', 30);
step('take', function () use ($mine) {
    try {
        return $mine->acquire();
    } catch (LockAcquiringException $e) {
        throw $e->getPrevious(); // what the server said
    }
});
step('release', function () use ($mine) {
    $mine->release();
    return $mine->isAcquired();
});
