-- Filters of eth_newFilter and its like. They live minutes and change with every poll; what a crash of Postgres takes,
-- clients make again when they are told that there is no such filter.
CREATE UNLOGGED TABLE packhouse.rpc_filter (
  id bytea PRIMARY KEY, -- 16 random bytes
  network text NOT NULL,
  key_id int8 NOT NULL, -- 0: an open network
  state text NOT NULL, -- the gateway's own JSON
  version int4 NOT NULL DEFAULT 1, -- changes with every write: two polls at once see who was first
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX rpc_filter_key ON packhouse.rpc_filter (key_id);
CREATE INDEX rpc_filter_expiry ON packhouse.rpc_filter (expires_at);

-- Hashes of transactions that wait to be mined, in the order in which they were seen; written by one gateway a network.
CREATE UNLOGGED TABLE packhouse.pending_transaction (
  network text NOT NULL,
  sequence int8 GENERATED ALWAYS AS IDENTITY,
  hash bytea NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (network, sequence),
  UNIQUE (network, hash)
);
CREATE INDEX pending_transaction_age ON packhouse.pending_transaction (seen_at);
