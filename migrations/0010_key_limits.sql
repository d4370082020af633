-- Where a key may be used from and for what; empty: anywhere, for anything. A program that does not know of these
-- columns goes on working and does not look at them.
ALTER TABLE packhouse.api_key
  ADD COLUMN origins text[] NOT NULL DEFAULT '{}', -- of browsers: https://app.example.com, *.example.com
  ADD COLUMN addresses text[] NOT NULL DEFAULT '{}', -- of clients, in CIDR notation
  ADD COLUMN methods text[] NOT NULL DEFAULT '{}'; -- of JSON-RPC, and bundle-api, download, nft

-- Requests of a day (UTC), for plans with a daily quota where gateways have no Redis to count in.
CREATE TABLE packhouse.key_usage (
  key_id int8 NOT NULL,
  day int4 NOT NULL, -- days since 1970-01-01
  requests int8 NOT NULL,
  PRIMARY KEY (key_id, day)
) WITH (fillfactor = 50);
