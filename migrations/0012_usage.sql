-- Plans: units of a calendar month (UTC), and calls a second of single methods. A program that does not know of these
-- columns goes on working and does not look at them.
ALTER TABLE packhouse.plan
  ADD COLUMN requests_per_month int8, -- null: no limit
  ADD COLUMN methods_per_second jsonb NOT NULL DEFAULT '{}'; -- {"eth_getLogs": 5}

-- What keys used, by day (UTC), network and method; methods are JSON-RPC methods that a network offers, other, batch,
-- and routes. key_usage has the units of a day in all, which quotas are read from.
CREATE TABLE packhouse.method_usage (
  key_id int8 NOT NULL,
  day int4 NOT NULL, -- days since 1970-01-01
  network text NOT NULL,
  method text NOT NULL,
  requests int8 NOT NULL,
  units int8 NOT NULL,
  errors int8 NOT NULL,
  bytes int8 NOT NULL,
  PRIMARY KEY (key_id, day, network, method)
) WITH (fillfactor = 50);
CREATE INDEX method_usage_day ON packhouse.method_usage (day);
