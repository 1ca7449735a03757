<?php
// What the PHP programs share: how a step is told, and contests of processes.

[$host, $port, $prefix] = array_slice($argv, -3);
$port = (int) $port;
$own = array_slice($argv, 1, -3);

function tell(string $step, $result): void
{
    echo json_encode([$step => $result], JSON_UNESCAPED_SLASHES), "\n";
}

function step(string $name, callable $call)
{
    try {
        $result = $call();
        tell($name, $result);
        return $result;
    } catch (Throwable $e) {
        tell($name, 'FAILED ' . get_class($e) . ': ' . $e->getMessage());
    }
}

// refused tells the error that the call should end with.
function refused(string $name, callable $call): void
{
    try {
        tell($name, 'FAILED: no error, but ' . json_encode($call()));
    } catch (Throwable $e) {
        tell($name, get_class($e) . ': ' . $e->getMessage());
    }
}

// poll calls until it is true. The masters keep a lock a little longer.
function poll(callable $call, float $seconds = 10.0): bool
{
    for ($end = microtime(true) + $seconds; !$call(); usleep(5000)) {
        if (microtime(true) > $end) {
            throw new RuntimeException("still refused after $seconds s");
        }
    }
    return true;
}

// waitFor says whether take, which waits, ends after the release of another
// process 300 ms later. That process makes a connection of its own.
function waitFor(callable $release, callable $take): bool
{
    $start = microtime(true);
    $child = pcntl_fork();
    if ($child === 0) {
        usleep(300000);
        $release();
        posix_kill(getmypid(), SIGKILL); // without closing what it inherited
    }
    $take();
    $waited = microtime(true) - $start;
    pcntl_waitpid($child, $status);
    return $waited >= 0.29;
}

// contest lets processes want one lock at once. A file that only its creator
// may have shows two holders. work gets the number and a function for inside.
function contest(callable $work, int $workers = 4, int $rounds = 5): array
{
    $file = sys_get_temp_dir() . '/bench-' . getmypid();
    $children = [];
    for ($w = 0; $w < $workers; $w++) {
        $child = pcntl_fork();
        if ($child === 0) {
            $bad = 0;
            try {
                $work($w, $rounds, function () use ($file, &$bad) {
                    $h = @fopen($file, 'x');
                    if ($h === false) {
                        $bad++;
                        return;
                    }
                    usleep(1000);
                    fclose($h);
                    unlink($file);
                });
            } catch (Throwable $e) {
                fwrite(STDERR, $e->getMessage() . "\n");
                $bad += 100;
            }
            // Its code is the count; the parent's connection is not closed.
            pcntl_exec('/bin/sh', ['-c', 'exit ' . min($bad, 255)]);
        }
        $children[] = $child;
    }
    $bad = 0;
    foreach ($children as $child) {
        pcntl_waitpid($child, $status);
        $bad += pcntl_wexitstatus($status);
    }
    @unlink($file);
    return ['workers' => $workers, 'rounds' => $rounds, 'two at once' => $bad];
}
