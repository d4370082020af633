-- What a provider may be asked, over all machines. Days and months are those of UTC.
CREATE TABLE packhouse.budget (
  provider text PRIMARY KEY, -- as upstreams of the networks file name it
  unit text NOT NULL CHECK (unit IN ('requests', 'units')),
  per_second float8, -- null: no limit, here and below
  per_day int8,
  per_month int8,
  weights jsonb NOT NULL DEFAULT '{}', -- units of a request: {"eth_getLogs": 75, "other": 20}; 1 where nothing is said
  reserve float8 NOT NULL, -- the share that backfills leave, 0 to 0.9
  price_per_million float8,
  currency text
);

-- What was taken of each limit lately; see packages/node-rpc/src/spending. Used where there is no Redis.
CREATE TABLE packhouse.budget_state (
  key text PRIMARY KEY,
  state jsonb NOT NULL
) WITH (fillfactor = 50);

-- Networks whose backfills wait for a budget.
CREATE TABLE packhouse.budget_wait (
  network text PRIMARY KEY,
  provider text NOT NULL,
  period text NOT NULL, -- day or month
  until timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Requests sent to nodes, by day (UTC).
CREATE TABLE packhouse.upstream_usage (
  day int4 NOT NULL, -- days since 1970-01-01
  network text NOT NULL,
  upstream text NOT NULL,
  provider text NOT NULL,
  method text NOT NULL,
  requests int8 NOT NULL,
  units int8 NOT NULL,
  bytes int8 NOT NULL, -- received
  PRIMARY KEY (day, provider, network, upstream, method)
) WITH (fillfactor = 50);

-- The same by whom they were sent for: the owner of a range, or the application of a key; - is nobody.
CREATE TABLE packhouse.owner_usage (
  day int4 NOT NULL,
  owner text NOT NULL,
  requests int8 NOT NULL,
  units int8 NOT NULL,
  bytes int8 NOT NULL,
  PRIMARY KEY (day, owner)
) WITH (fillfactor = 50);

-- The same by wanted range, over all days.
CREATE TABLE packhouse.range_usage (
  range_id int8 PRIMARY KEY,
  day int4 NOT NULL, -- of the last request
  requests int8 NOT NULL,
  units int8 NOT NULL,
  bytes int8 NOT NULL
) WITH (fillfactor = 50);
