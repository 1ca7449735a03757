# Sidekiq's client, which redlockd refuses.

require "json"
require "sidekiq"

HOST, PORT, PREFIX = ARGV.last(3)

def tell(step, result) = puts(JSON.generate({step => result}))

tell("version", Sidekiq::VERSION)
Sidekiq.configure_client { |config| config.redis = {url: "redis://#{HOST}:#{PORT}"} }
begin
  tell("push", Sidekiq::Client.push("class" => "Job", "args" => [], "queue" => PREFIX).size)
rescue => e
  tell("push", "FAILED #{e.class}: #{e.message}")
end
