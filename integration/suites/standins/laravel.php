<?php

/**
 * Stands in for Testbench, which no package holds, under Laravel's own tests of its
 * locks: an application with Laravel's cache and Redis and its usual settings.
 */

namespace {
    error_reporting(E_ALL & ~E_DEPRECATED); // Debian's Laravel is older than its PHP
    foreach (['Config', 'Container', 'Redis', 'Cache'] as $part) {
        require_once "Illuminate/$part/autoload.php";
    }
    require_once 'Dotenv/autoload.php';
    require_once 'Predis/Autoloader.php';
    Predis\Autoloader::register();
    // The trait by which the tests clear their database comes with the tests.
    spl_autoload_register(function (string $class): void {
        if (str_starts_with($class, 'Illuminate\\Foundation\\Testing\\')) {
            require getcwd() . '/src/' . str_replace('\\', '/', $class) . '.php';
        }
    });
}

namespace Orchestra\Testbench {
    use Illuminate\Cache\CacheManager;
    use Illuminate\Config\Repository;
    use Illuminate\Container\Container;
    use Illuminate\Redis\RedisManager;
    use Illuminate\Support\Facades\Facade;

    class TestCase extends \PHPUnit\Framework\TestCase
    {
        protected $app;

        protected function setUp(): void
        {
            $server = ['host' => '127.0.0.1', 'port' => 6379];
            $this->app = $app = new Container();
            $app->instance('config', new Repository([
                'cache' => [
                    'default' => 'redis',
                    'prefix' => 'laravel_cache',
                    'stores' => ['redis' => ['driver' => 'redis', 'connection' => 'cache', 'lock_connection' => 'default']],
                ],
                'database' => ['redis' => [
                    'client' => 'phpredis',
                    'options' => ['cluster' => 'redis', 'prefix' => 'laravel_database_'],
                    'default' => $server + ['database' => 0],
                    'cache' => $server + ['database' => 1],
                ]],
            ]));
            $app->singleton('redis', function ($app) {
                $settings = $app['config']['database.redis'];
                return new RedisManager($app, $settings['client'], array_diff_key($settings, ['client' => 0]));
            });
            $app->singleton('cache', fn ($app) => new CacheManager($app));
            Facade::clearResolvedInstances();
            Facade::setFacadeApplication($app);
        }
    }
}
