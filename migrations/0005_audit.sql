-- When a network was last audited by itself, and what came of it: all packers together audit once in a while.
CREATE TABLE packhouse.audit (
  network_id smallint PRIMARY KEY REFERENCES packhouse.network,
  finished_at timestamptz NOT NULL,
  bundles int8 NOT NULL,
  bytes_read int8 NOT NULL,
  findings int8 NOT NULL
) WITH (fillfactor = 50);
