-- A row of the quarantine may hold several blocks in a row that fail alike: a range that no node keeps is one fact.
-- A program that does not know the new columns sees the first block of such a row.
ALTER TABLE packhouse.quarantine ADD COLUMN blocks int8 NOT NULL DEFAULT 1 CHECK (blocks > 0);
-- What each upstream did, in the order they were asked: [{"upstream", "cause", "message", "payloadDigest"}].
ALTER TABLE packhouse.quarantine ADD COLUMN tried jsonb NOT NULL DEFAULT '[]';
CREATE INDEX quarantine_due ON packhouse.quarantine (network_id, next_try);
CREATE INDEX quarantine_range ON packhouse.quarantine USING gist (int8range(block, block + blocks));

-- Networks for which nothing new is fetched because the staging area is full. A row is there as long as that lasts.
CREATE TABLE packhouse.back_pressure (
  network_id smallint PRIMARY KEY REFERENCES packhouse.network,
  since timestamptz NOT NULL DEFAULT now(),
  staged_bytes int8 NOT NULL,
  limit_bytes int8 NOT NULL
);
