-- Everything is in the schema "packhouse" and every statement names it, so no search_path matters.
-- Stored codes: kind = position in KINDS, kinds and proofs = bit masks by position; hashes are bytea.
-- Block ranges are two inclusive columns (start_block, end_block).

CREATE TABLE packhouse.network (
  id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  chain_id int8 NOT NULL,
  registered_at timestamptz NOT NULL DEFAULT now()
);

-- What operators asked for.
CREATE TABLE packhouse.wanted_range (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  network_id smallint NOT NULL REFERENCES packhouse.network,
  kinds int4 NOT NULL CHECK (kinds > 0),
  start_block int8 NOT NULL CHECK (start_block >= 0),
  end_block int8 CHECK (end_block >= start_block), -- null: follow the head
  priority int2 NOT NULL CHECK (priority BETWEEN 1 AND 1000),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'cancelled')),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX wanted_range_network ON packhouse.wanted_range (network_id);

CREATE TABLE packhouse.head (
  network_id smallint PRIMARY KEY REFERENCES packhouse.network,
  block int8 NOT NULL,
  hash bytea NOT NULL,
  finalized int8 NOT NULL,
  observed_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Staging: proved and not yet published. One partition a segment of 1024 blocks, made on demand and dropped
-- whole, so that reclaiming leaves nothing to vacuum. No foreign keys: they would tie the partitions to others.
CREATE TABLE packhouse.staged_block (
  network_id smallint NOT NULL,
  block int8 NOT NULL,
  hash bytea NOT NULL,
  parent_hash bytea NOT NULL,
  timestamp int8 NOT NULL,
  transaction_count int4 NOT NULL,
  proofs int4 NOT NULL,
  PRIMARY KEY (network_id, block)
) PARTITION BY RANGE (network_id, block);

CREATE TABLE packhouse.fragment (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  block int8 NOT NULL, -- its first
  end_block int8 NOT NULL,
  raw_length int4 NOT NULL,
  crc32 int8 NOT NULL,
  body bytea STORAGE EXTERNAL NOT NULL, -- deflated already: pglz would only cost time
  PRIMARY KEY (network_id, kind, block)
) PARTITION BY RANGE (network_id, block);

-- Hashes that a reorganisation removed, kept for 24 hours.
CREATE TABLE packhouse.abandoned_block (
  network_id smallint NOT NULL,
  block int8 NOT NULL,
  hash bytea NOT NULL,
  abandoned_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (network_id, block, hash)
);
CREATE INDEX abandoned_block_age ON packhouse.abandoned_block (abandoned_at);

-- The range index.
CREATE TABLE packhouse.bundle (
  network_id smallint NOT NULL,
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 7),
  start_block int8 NOT NULL CHECK (start_block >= 0),
  end_block int8 NOT NULL CHECK (end_block >= start_block AND end_block < 281474976710656),
  byte_length int8 NOT NULL,
  raw_length int8 NOT NULL,
  proofs int4 NOT NULL,
  format_version int2 NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now(),
  sha256 bytea NOT NULL,
  first_hash bytea NOT NULL,
  first_parent_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  object_key text NOT NULL,
  fragments bytea NOT NULL,
  -- Lookups of one block: the last bundle that starts at or before it.
  PRIMARY KEY (network_id, kind, start_block) INCLUDE (end_block),
  -- Overlap is impossible, whoever publishes. Network and kind are the upper 15 bits of each bound, which makes
  -- one range of the three columns: the same rule with btree_gist needs the right to create an extension.
  CONSTRAINT bundle_overlap EXCLUDE USING gist (
    int8range(
      ((network_id::int8 * 8 + kind) << 48) + start_block,
      ((network_id::int8 * 8 + kind) << 48) + end_block,
      '[]'
    ) WITH &&
  )
);

-- What is published of one kind, as few ranges as there are runs: coverage and totals never scan the bundles.
-- Kept by the triggers below in the transaction that publishes; its row lock lets one publisher of a kind
-- commit at a time.
CREATE TABLE packhouse.published (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  ranges int8multirange NOT NULL,
  bundles int8 NOT NULL,
  blocks int8 NOT NULL,
  bytes int8 NOT NULL,
  newest_at timestamptz NOT NULL,
  PRIMARY KEY (network_id, kind)
) WITH (fillfactor = 50);

CREATE FUNCTION packhouse.bundle_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO packhouse.published AS p (network_id, kind, ranges, bundles, blocks, bytes, newest_at)
  SELECT network_id, kind, range_agg(int8range(start_block, end_block, '[]')), count(*),
         sum(end_block - start_block + 1), sum(byte_length), max(published_at)
  FROM inserted
  GROUP BY network_id, kind
  ORDER BY network_id, kind
  ON CONFLICT (network_id, kind) DO UPDATE SET
    ranges = p.ranges + excluded.ranges,
    bundles = p.bundles + excluded.bundles,
    blocks = p.blocks + excluded.blocks,
    bytes = p.bytes + excluded.bytes,
    newest_at = greatest(p.newest_at, excluded.newest_at);
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.bundle_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE packhouse.published AS p SET
    ranges = p.ranges - gone.ranges,
    bundles = p.bundles - gone.bundles,
    blocks = p.blocks - gone.blocks,
    bytes = p.bytes - gone.bytes
  FROM (
    SELECT network_id, kind, range_agg(int8range(start_block, end_block, '[]')) AS ranges, count(*) AS bundles,
           sum(end_block - start_block + 1) AS blocks, sum(byte_length) AS bytes
    FROM deleted
    GROUP BY network_id, kind
  ) AS gone
  WHERE p.network_id = gone.network_id AND p.kind = gone.kind;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.bundle_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM packhouse.published;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.bundle_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a published bundle never changes' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER bundle_inserted AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_inserted();
CREATE TRIGGER bundle_deleted AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_deleted();
CREATE TRIGGER bundle_truncated AFTER TRUNCATE ON packhouse.bundle
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_truncated();
CREATE TRIGGER bundle_is_immutable BEFORE UPDATE ON packhouse.bundle
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_is_immutable();

-- Blocks that fail their proofs or that no node gives.
CREATE TABLE packhouse.quarantine (
  network_id smallint NOT NULL REFERENCES packhouse.network,
  block int8 NOT NULL,
  kinds int4 NOT NULL CHECK (kinds > 0),
  cause text NOT NULL,
  message text NOT NULL,
  upstream text,
  payload_digest bytea,
  attempts int4 NOT NULL,
  first_seen timestamptz NOT NULL,
  next_try timestamptz NOT NULL,
  PRIMARY KEY (network_id, block)
);

CREATE TABLE packhouse.application (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE packhouse.plan (
  name text PRIMARY KEY,
  position int2 NOT NULL UNIQUE, -- the order they are listed in
  max_block int8, -- null: all blocks
  requests_per_second int4 NOT NULL,
  requests_per_day int8 -- null: no limit
);
INSERT INTO packhouse.plan (name, position, max_block, requests_per_second, requests_per_day) VALUES
  ('free', 1, 3000000, 25, 100000),
  ('standard', 2, NULL, 250, NULL),
  ('unlimited', 3, NULL, 1000000, NULL);

CREATE TABLE packhouse.api_key (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id int8 NOT NULL REFERENCES packhouse.application,
  plan text NOT NULL REFERENCES packhouse.plan,
  network text, -- by name: a key may be made before its network is known here; null: all
  prefix text NOT NULL UNIQUE,
  sha256 bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
