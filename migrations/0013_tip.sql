-- The newest block numbers that gateways told their clients. They count for half a minute after a gateway last saw a
-- node with the block; what a crash of Postgres takes, the next look at the nodes writes again.
CREATE UNLOGGED TABLE packhouse.told_tip (
  network text NOT NULL, -- as the gateway names it, with its chain id
  tag text NOT NULL, -- latest, safe, finalized
  block int8 NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (network, tag)
) WITH (fillfactor = 50);
