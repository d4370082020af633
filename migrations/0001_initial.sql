-- The schema of Packhouse, in rooms: networks, requested, staged, published, gateway, operators, history.
--
-- Everything is in the schema "packhouse" and every statement names it, so search_path does not matter.
-- Block ranges are two inclusive columns (first_block, last_block). Stored codes: kind = position in KINDS, kinds and
-- proofs = bit masks by position. Hashes are bytea, days are days since 1970-01-01 (UTC).

CREATE TABLE packhouse.compatibility (
  migration text PRIMARY KEY,
  minimum int4 NOT NULL CHECK (minimum > 0)
);
COMMENT ON TABLE packhouse.compatibility IS
  'Migrations that programs without them cannot run beside. Each inserts its row in its own transaction; all others only add.';
COMMENT ON COLUMN packhouse.compatibility.minimum IS
  'Lowest schema version of a program that may still run: the number of the newest migration that the program knows.';

------------------------------------------------------------------------------------------------------------ networks

CREATE TABLE packhouse.network (
  id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  chain_id int8 NOT NULL,
  registered_at timestamptz NOT NULL DEFAULT now(),
  ingester_seen_at timestamptz
);
COMMENT ON TABLE packhouse.network IS 'Networks that an ingester was started with.';
COMMENT ON COLUMN packhouse.network.ingester_seen_at IS
  'When the last ingester that left was seen; those that run are rows of worker. null: none has left';

CREATE TABLE packhouse.head (
  network_id smallint PRIMARY KEY REFERENCES packhouse.network,
  block int8 NOT NULL,
  hash bytea NOT NULL,
  finalized int8 NOT NULL,
  observed_at timestamptz NOT NULL,
  anchor_block int8,
  anchor_hash bytea
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.head IS 'The newest block of each network, as its nodes report it.';
COMMENT ON COLUMN packhouse.head.finalized IS 'Highest final block; -1: none.';
COMMENT ON COLUMN packhouse.head.anchor_block IS
  'The highest final block whose hash was read. The chain must keep it: another hash there is a reorganisation below finality.';

CREATE TABLE packhouse.alarm (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  network_id smallint NOT NULL REFERENCES packhouse.network,
  name text NOT NULL,
  message text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}',
  raised_at timestamptz NOT NULL DEFAULT now(),
  cleared_at timestamptz,
  cleared_by text CHECK (cleared_by IN ('operator', 'itself'))
);
COMMENT ON TABLE packhouse.alarm IS
  'Conditions that an operator must know, by name. Cleared alarms are kept as history.';
COMMENT ON COLUMN packhouse.alarm.cleared_at IS 'null: open';
CREATE UNIQUE INDEX alarm_open ON packhouse.alarm (network_id, name) WHERE cleared_at IS NULL;
COMMENT ON INDEX packhouse.alarm_open IS 'At most one alarm of a name is open per network, whichever process raises it.';
CREATE INDEX alarm_network ON packhouse.alarm (network_id, name, raised_at);
CREATE INDEX alarm_raised ON packhouse.alarm (raised_at);
CREATE INDEX alarm_cleared ON packhouse.alarm (cleared_at) WHERE cleared_at IS NOT NULL;

CREATE TABLE packhouse.back_pressure (
  network_id smallint PRIMARY KEY REFERENCES packhouse.network,
  since timestamptz NOT NULL DEFAULT now(),
  staged_bytes int8 NOT NULL,
  limit_bytes int8 NOT NULL
);
COMMENT ON TABLE packhouse.back_pressure IS
  'Networks for which no new block is fetched because the staging area is full.';

CREATE TABLE packhouse.lease (
  name text PRIMARY KEY,
  holder uuid,
  token int8 NOT NULL,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.lease IS
  'Work that one process at a time does. A lease is free once it has expired, or no session has the advisory lock of its holder.';
COMMENT ON COLUMN packhouse.lease.holder IS 'Of one connection of one process; null: given back';
COMMENT ON COLUMN packhouse.lease.token IS 'Rises each time the lease is taken, so that a write of an earlier holder is refused.';
COMMENT ON COLUMN packhouse.lease.expires_at IS 'Renewed every few seconds; of a lease given back, when that was.';

CREATE FUNCTION packhouse.require_lease(of_name text, of_holder uuid, of_token int8) RETURNS void LANGUAGE plpgsql AS $$
-- Raises PHL01 unless this holder has the lease; null: none is needed. No other takes it before the transaction ends.
BEGIN
  IF of_name IS NULL THEN
    RETURN;
  END IF;
  PERFORM FROM packhouse.lease
  WHERE name = of_name AND holder = of_holder AND token = of_token AND expires_at > clock_timestamp() FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the lease "%" is not held any more', of_name USING ERRCODE = 'PHL01';
  END IF;
END
$$;

----------------------------------------------------------------------------------------------------------- requested

CREATE TABLE packhouse.backfill (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  first_block int8 NOT NULL CHECK (first_block >= 0),
  last_block int8 CHECK (last_block >= first_block),
  network_id smallint NOT NULL REFERENCES packhouse.network,
  kinds int4 NOT NULL CHECK (kinds > 0),
  priority int2 NOT NULL CHECK (priority BETWEEN 1 AND 1000),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'cancelled')),
  done boolean NOT NULL DEFAULT false,
  owner text NOT NULL DEFAULT 'default' CHECK (owner ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  weight int2 NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
  windows text[] NOT NULL DEFAULT '{}',
  deadline timestamptz,
  max_requests int8 CHECK (max_requests > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  done_at timestamptz,
  stopped_at timestamptz,
  stopped_by text,
  stopped_reason text CHECK (length(stopped_reason) <= 500),
  CHECK ((stopped_at IS NULL) = (stopped_by IS NULL))
);
COMMENT ON TABLE packhouse.backfill IS 'Block ranges that operators requested.';
COMMENT ON COLUMN packhouse.backfill.last_block IS 'null: follows the head';
COMMENT ON COLUMN packhouse.backfill.priority IS '1 is first.';
COMMENT ON COLUMN packhouse.backfill.done IS
  'All of it is published, so it is not planned. Deleting one of its bundles sets it back.';
COMMENT ON COLUMN packhouse.backfill.done_at IS 'When it was last found to be done, also if it is not any more; null: never';
COMMENT ON COLUMN packhouse.backfill.stopped_at IS 'When it was paused or cancelled; null: it is active';
COMMENT ON COLUMN packhouse.backfill.stopped_reason IS 'Why it was paused or cancelled, if the operator said so.';
COMMENT ON COLUMN packhouse.backfill.weight IS 'Share among backfills of the same priority.';
COMMENT ON COLUMN packhouse.backfill.windows IS 'When it is fetched, such as "Mon-Fri 20:00-06:00 Europe/Berlin"; empty: always';
CREATE INDEX backfill_network ON packhouse.backfill (network_id);
CREATE INDEX backfill_created ON packhouse.backfill (created_at);
CREATE INDEX backfill_done ON packhouse.backfill (done_at) WHERE done_at IS NOT NULL;
CREATE INDEX backfill_stopped ON packhouse.backfill (stopped_at) WHERE stopped_at IS NOT NULL;
CREATE INDEX backfill_open ON packhouse.backfill (network_id, id) WHERE state = 'active' AND NOT done;
CREATE INDEX backfill_last ON packhouse.backfill (network_id, last_block) WHERE state <> 'cancelled';
CREATE INDEX backfill_deadline ON packhouse.backfill (deadline)
  WHERE deadline IS NOT NULL AND NOT done AND state <> 'cancelled';
CREATE INDEX backfill_blocks ON packhouse.backfill
  USING gist (int8range(first_block, coalesce(last_block, 9007199254740991), '[]'));

CREATE TABLE packhouse.requested_run (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  state text NOT NULL,
  first_block int8 NOT NULL,
  last_block int8 NOT NULL,
  PRIMARY KEY (network_id, kind, state, first_block)
);
COMMENT ON TABLE packhouse.requested_run IS
  'Requested blocks by kind and state: backfills that touch are one run, so reading costs the runs read, not the backfills. Maintained by triggers on backfill.';
COMMENT ON COLUMN packhouse.requested_run.last_block IS '9007199254740991: no end';

CREATE TABLE packhouse.requested_version (
  network_id smallint PRIMARY KEY,
  version int8 NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.requested_version IS
  'Rises with each change of a network''s backfills, so that programs read them again only then. Its row lock serialises transactions that change a network''s runs.';

CREATE FUNCTION packhouse.raise_requested_version(networks smallint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO packhouse.requested_version (network_id, version)
  SELECT DISTINCT network_id, 1 FROM unnest(networks) AS network_id ORDER BY network_id
  ON CONFLICT (network_id) DO UPDATE SET version = requested_version.version + 1
$$;

CREATE FUNCTION packhouse.change_requested_runs(
  network smallint, of_kind smallint, of_state text, removed int8multirange, added int8multirange
) RETURNS void LANGUAGE plpgsql AS $$
-- Corrects the runs of one kind and state within two sets of blocks: those of removed backfills, of which only what
-- other backfills request is kept, and those of added ones. Multiranges, because one call per backfill takes over a
-- minute for an INSERT of 100,000.
DECLARE
  changed int8multirange := removed + added;
  low int8 := lower(changed);
  high int8 := upper(changed); -- exclusive: a run that begins here touches
  kept int8multirange := '{}';
BEGIN
  IF NOT isempty(removed) THEN
    SELECT coalesce(range_agg(int8range(b.first_block, coalesce(b.last_block, 9007199254740991), '[]')), '{}') * removed
    INTO kept
    FROM packhouse.backfill AS b
    WHERE b.network_id = network AND b.state = of_state AND (b.kinds >> of_kind) & 1 = 1
      AND int8range(b.first_block, coalesce(b.last_block, 9007199254740991), '[]') && range_merge(removed);
  END IF;
  WITH replaced AS (
    DELETE FROM packhouse.requested_run AS r
    WHERE r.network_id = network AND r.kind = of_kind AND r.state = of_state
      AND r.first_block <= high
      AND r.first_block >= coalesce((
        SELECT max(b.first_block) FROM packhouse.requested_run AS b
        WHERE b.network_id = network AND b.kind = of_kind AND b.state = of_state AND b.first_block < low
      ), low)
      AND int8range(r.first_block - 1, r.last_block + 1, '[]') && changed
    RETURNING r.first_block, r.last_block
  )
  INSERT INTO packhouse.requested_run (network_id, kind, state, first_block, last_block)
  SELECT network, of_kind, of_state, lower(run), upper(run) - 1
  FROM (
    SELECT coalesce(range_agg(int8range(first_block, last_block, '[]')), '{}') - removed + kept + added AS runs
    FROM replaced
  ) AS g, unnest(g.runs) AS run;
END
$$;

CREATE FUNCTION packhouse.backfill_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM packhouse.raise_requested_version(array(SELECT DISTINCT network_id FROM inserted));
  PERFORM packhouse.change_requested_runs(network_id, k.kind::smallint, state, '{}', ranges)
  FROM (
    SELECT network_id, kinds, state,
      range_agg(int8range(first_block, coalesce(last_block, 9007199254740991), '[]')) AS ranges
    FROM inserted GROUP BY network_id, kinds, state
  ) AS g JOIN generate_series(0, 15) AS k (kind) ON (kinds >> k.kind) & 1 = 1;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.backfill_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- EXCEPT, because a join of the two tables may be planned as a nested loop.
  PERFORM packhouse.raise_requested_version(array(
    SELECT DISTINCT network_id FROM (
      SELECT id, network_id, kinds, state, first_block, last_block, priority, owner, weight, windows, deadline,
        max_requests FROM before
      EXCEPT SELECT id, network_id, kinds, state, first_block, last_block, priority, owner, weight, windows, deadline,
        max_requests FROM after
    ) AS changed
  ));
  PERFORM packhouse.change_requested_runs(network_id, k.kind::smallint, state, removed, added)
  FROM (
    SELECT network_id, kinds, state,
      coalesce(range_agg(blocks) FILTER (WHERE is_old), '{}') AS removed,
      coalesce(range_agg(blocks) FILTER (WHERE NOT is_old), '{}') AS added
    FROM (
      SELECT network_id, kinds, state, true AS is_old,
        int8range(first_block, coalesce(last_block, 9007199254740991), '[]') AS blocks
      FROM (
        SELECT id, network_id, kinds, state, first_block, last_block FROM before
        EXCEPT SELECT id, network_id, kinds, state, first_block, last_block FROM after
      ) AS o
      UNION ALL
      SELECT network_id, kinds, state, false,
        int8range(first_block, coalesce(last_block, 9007199254740991), '[]')
      FROM (
        SELECT id, network_id, kinds, state, first_block, last_block FROM after
        EXCEPT SELECT id, network_id, kinds, state, first_block, last_block FROM before
      ) AS n
    ) AS changed
    GROUP BY network_id, kinds, state
  ) AS g JOIN generate_series(0, 15) AS k (kind) ON (kinds >> k.kind) & 1 = 1;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.backfill_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM packhouse.raise_requested_version(array(SELECT DISTINCT network_id FROM deleted));
  PERFORM packhouse.change_requested_runs(network_id, k.kind::smallint, state, ranges, '{}')
  FROM (
    SELECT network_id, kinds, state,
      range_agg(int8range(first_block, coalesce(last_block, 9007199254740991), '[]')) AS ranges
    FROM deleted GROUP BY network_id, kinds, state
  ) AS g JOIN generate_series(0, 15) AS k (kind) ON (kinds >> k.kind) & 1 = 1;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.backfill_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM packhouse.raise_requested_version(array(SELECT network_id FROM packhouse.requested_version));
  DELETE FROM packhouse.requested_run;
  RETURN NULL;
END
$$;

CREATE TRIGGER backfill_inserted AFTER INSERT ON packhouse.backfill
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.backfill_inserted();
CREATE TRIGGER backfill_updated AFTER UPDATE ON packhouse.backfill
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION packhouse.backfill_updated();
CREATE TRIGGER backfill_deleted AFTER DELETE ON packhouse.backfill
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.backfill_deleted();
CREATE TRIGGER backfill_truncated AFTER TRUNCATE ON packhouse.backfill
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.backfill_truncated();

CREATE TABLE packhouse.quarantine (
  network_id smallint NOT NULL REFERENCES packhouse.network,
  first_block int8 NOT NULL,
  last_block int8 NOT NULL CHECK (last_block >= first_block),
  kinds int4 NOT NULL CHECK (kinds > 0),
  cause text NOT NULL,
  message text NOT NULL,
  upstream text,
  payload_digest bytea,
  attempts int4 NOT NULL,
  first_seen timestamptz NOT NULL,
  next_try timestamptz NOT NULL,
  tried jsonb NOT NULL DEFAULT '[]',
  PRIMARY KEY (network_id, first_block)
);
COMMENT ON TABLE packhouse.quarantine IS
  'Blocks that fail a check or that no node returns. Consecutive blocks that fail alike are one row: a range that no node has is one fact.';
COMMENT ON COLUMN packhouse.quarantine.tried IS
  'What each upstream did, in the order they were asked: [{"upstream", "cause", "message", "payloadDigest"}]';
CREATE INDEX quarantine_due ON packhouse.quarantine (network_id, next_try);
CREATE INDEX quarantine_range ON packhouse.quarantine USING gist (int8range(first_block, last_block, '[]'));

-------------------------------------------------------------------------------------------------------------- staged

CREATE TABLE packhouse.staged_block (
  network_id smallint NOT NULL,
  block int8 NOT NULL,
  hash bytea NOT NULL,
  parent_hash bytea NOT NULL,
  timestamp int8 NOT NULL,
  transaction_count int4 NOT NULL,
  proofs int4 NOT NULL,
  client smallint,
  not_proved text NOT NULL DEFAULT '',
  PRIMARY KEY (network_id, block)
) PARTITION BY RANGE (network_id, block);
COMMENT ON TABLE packhouse.staged_block IS
  'Proved blocks that are not published yet. One partition per 1,024 blocks, created on demand and dropped whole, so that nothing is vacuumed; no foreign keys, which would tie the partitions to other tables.';
COMMENT ON COLUMN packhouse.staged_block.client IS 'Id in node_client; null: unknown';
COMMENT ON COLUMN packhouse.staged_block.not_proved IS
  'What was not proved, and why: a JSON array of {proof, because}; empty: nothing';

CREATE TABLE packhouse.fragment (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block int8 NOT NULL,
  last_block int8 NOT NULL,
  raw_length int4 NOT NULL,
  crc32 int8 NOT NULL,
  body bytea NOT NULL,
  items bytea,
  PRIMARY KEY (network_id, kind, first_block)
) PARTITION BY RANGE (network_id, first_block);
-- Before Postgres 16, CREATE TABLE knows no STORAGE.
ALTER TABLE packhouse.fragment ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN items SET STORAGE EXTERNAL;
COMMENT ON TABLE packhouse.fragment IS
  'Deflated records of staged blocks, which the packer splices into bundles. Partitioned as staged_block.';
COMMENT ON COLUMN packhouse.fragment.body IS 'Stored as it is: compressing it again would only cost time.';
COMMENT ON COLUMN packhouse.fragment.items IS
  'Digests for the bundle''s filter, 10 bytes each (Piece.items of packages/bundle), found when the fragment is made; null: a kind without a filter, or text that the scanner does not know, in which the packer looks itself';

CREATE TABLE packhouse.abandoned_block (
  network_id smallint NOT NULL,
  block int8 NOT NULL,
  hash bytea NOT NULL,
  abandoned_at timestamptz NOT NULL DEFAULT now(),
  parent_hash bytea NOT NULL,
  PRIMARY KEY (network_id, block, hash)
);
COMMENT ON TABLE packhouse.abandoned_block IS
  'Blocks that a reorganisation removed, kept for 400 days: a cursor of a feed that is as old is told what to undo.';
CREATE INDEX abandoned_block_age ON packhouse.abandoned_block (abandoned_at);

CREATE TABLE packhouse.node_client (
  id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);
COMMENT ON TABLE packhouse.node_client IS
  'Client versions of nodes (web3_clientVersion). They are few: staged blocks keep the id.';

----------------------------------------------------------------------------------------------------------- published

CREATE TABLE packhouse.bundle (
  network_id smallint NOT NULL,
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 7),
  first_block int8 NOT NULL CHECK (first_block >= 0),
  last_block int8 NOT NULL CHECK (last_block >= first_block AND last_block < 281474976710656),
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
  version int2 NOT NULL DEFAULT 1,
  not_proved text NOT NULL DEFAULT '',
  PRIMARY KEY (network_id, kind, first_block) INCLUDE (last_block),
  CONSTRAINT bundle_overlap EXCLUDE USING gist (
    int8range(
      ((network_id::int8 * 8 + kind) << 48) + first_block,
      ((network_id::int8 * 8 + kind) << 48) + last_block,
      '[]'
    ) WITH &&
  )
);
COMMENT ON TABLE packhouse.bundle IS
  'The range index: one row per published bundle. The block of a kind is in the last bundle that starts at or before it.';
COMMENT ON COLUMN packhouse.bundle.version IS
  'A repaired bundle is published for the same range with the next version; the row before moves to superseded_bundle.';
COMMENT ON COLUMN packhouse.bundle.fragments IS 'Lengths and checksums of the fragments, encoded by packages/bundle.';
COMMENT ON COLUMN packhouse.bundle.not_proved IS 'As in staged_block, each reason once.';
COMMENT ON CONSTRAINT bundle_overlap ON packhouse.bundle IS
  'Overlap is impossible, whichever program publishes. Network and kind are the upper 15 bits of each bound, which makes one range of three columns; btree_gist would need the right to create an extension.';
CREATE INDEX bundle_reasons ON packhouse.bundle (network_id, not_proved) WHERE not_proved <> '';
CREATE INDEX bundle_not_proved ON packhouse.bundle (network_id, kind, first_block) INCLUDE (last_block, not_proved)
  WHERE not_proved <> '';

CREATE TABLE packhouse.superseded_bundle (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block int8 NOT NULL,
  last_block int8 NOT NULL,
  version int2 NOT NULL,
  byte_length int8 NOT NULL,
  raw_length int8 NOT NULL,
  proofs int4 NOT NULL,
  format_version int2 NOT NULL,
  published_at timestamptz NOT NULL,
  sha256 bytea NOT NULL,
  first_hash bytea NOT NULL,
  first_parent_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  object_key text NOT NULL,
  fragments bytea NOT NULL,
  superseded_at timestamptz NOT NULL DEFAULT now(),
  reason text NOT NULL,
  not_proved text NOT NULL DEFAULT '',
  PRIMARY KEY (network_id, kind, first_block, version)
);
COMMENT ON TABLE packhouse.superseded_bundle IS 'Rows that a newer version replaced. Their objects are kept.';

CREATE TABLE packhouse.bundle_filter (
  first_block int8 NOT NULL,
  byte_length int4 NOT NULL,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  version int2 NOT NULL,
  bundle_sha256 bytea NOT NULL,
  sha256 bytea NOT NULL,
  PRIMARY KEY (network_id, kind, first_block, version)
);
COMMENT ON TABLE packhouse.bundle_filter IS
  'Filters stored beside bundles: the addresses and topics that a file may contain.';
COMMENT ON COLUMN packhouse.bundle_filter.bundle_sha256 IS 'The file that it was made of: another file needs another filter.';

CREATE TABLE packhouse.published (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  bundles int8 NOT NULL,
  blocks int8 NOT NULL,
  bytes int8 NOT NULL,
  newest_at timestamptz NOT NULL,
  superseded int8 NOT NULL DEFAULT 0,
  PRIMARY KEY (network_id, kind)
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.published IS
  'Totals per kind, so that no total reads the bundles. Maintained by triggers in the transaction that publishes; its row lock lets one publisher of a kind commit at a time.';
COMMENT ON COLUMN packhouse.published.superseded IS
  'How often a bundle of this kind was superseded; a change invalidates index rows that a program remembers.';

CREATE TABLE packhouse.published_run (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block int8 NOT NULL,
  last_block int8 NOT NULL,
  PRIMARY KEY (network_id, kind, first_block)
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.published_run IS
  'Published blocks, one row per run: a page of coverage reads as many rows as it shows, and a publish changes two at most.';

CREATE TABLE packhouse.published_chunk (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  chunk int8 NOT NULL,
  blocks int8 NOT NULL,
  version int8 NOT NULL,
  PRIMARY KEY (network_id, kind, chunk)
);
COMMENT ON TABLE packhouse.published_chunk IS
  'Published blocks per 16,384: counts of long ranges add chunks instead of reading every run, and programs that remember what is published read only changed chunks again.';
COMMENT ON COLUMN packhouse.published_chunk.chunk IS 'First block divided by 16,384.';
COMMENT ON COLUMN packhouse.published_chunk.version IS 'Higher than any that the kind had before.';
CREATE INDEX published_chunk_version ON packhouse.published_chunk (network_id, kind, version);

CREATE TABLE packhouse.published_pace (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  chunk int8 NOT NULL,
  slot int4 NOT NULL,
  blocks int8 NOT NULL,
  PRIMARY KEY (network_id, kind, chunk, slot)
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.published_pace IS
  'Blocks that were published for the first time in the last day, per chunk and ten minutes: the rate of a backfill reads no bundles. Maintained by triggers in the transaction that publishes.';
COMMENT ON COLUMN packhouse.published_pace.chunk IS 'First block divided by 16,384, as in published_chunk.';
COMMENT ON COLUMN packhouse.published_pace.slot IS 'Seconds since 1970-01-01 divided by 600.';
CREATE INDEX published_pace_slot ON packhouse.published_pace (network_id, kind, slot);

CREATE FUNCTION packhouse.bundle_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO packhouse.published AS p (network_id, kind, bundles, blocks, bytes, newest_at)
  SELECT network_id, kind, count(*), sum(last_block - first_block + 1), sum(byte_length), max(published_at)
  FROM inserted
  GROUP BY network_id, kind
  ORDER BY network_id, kind
  ON CONFLICT (network_id, kind) DO UPDATE SET
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
    bundles = p.bundles - d.bundles,
    blocks = p.blocks - d.blocks,
    bytes = p.bytes - d.bytes
  FROM (
    SELECT network_id, kind, count(*) AS bundles, sum(last_block - first_block + 1) AS blocks,
      sum(byte_length) AS bytes
    FROM deleted
    GROUP BY network_id, kind
  ) AS d
  WHERE p.network_id = d.network_id AND p.kind = d.kind;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.bundle_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM packhouse.published;
  DELETE FROM packhouse.published_run;
  DELETE FROM packhouse.published_pace;
  -- These rows stay, so that versions only rise.
  UPDATE packhouse.published_chunk AS c SET blocks = 0, version = last.version + 1
  FROM (
    SELECT network_id, kind, max(version) AS version FROM packhouse.published_chunk GROUP BY network_id, kind
  ) AS last
  WHERE c.network_id = last.network_id AND c.kind = last.kind;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.bundle_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a published bundle never changes' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE FUNCTION packhouse.bundle_runs_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added record;
  new_last int8;
BEGIN
  FOR added IN
    SELECT g.network_id, g.kind, lower(run) AS first_block, upper(run) - 1 AS last_block
    FROM (
      SELECT network_id, kind, range_agg(int8range(first_block, last_block, '[]')) AS ranges
      FROM inserted
      GROUP BY network_id, kind
    ) AS g, unnest(g.ranges) AS run
  LOOP
    DELETE FROM packhouse.published_run AS r
    WHERE r.network_id = added.network_id AND r.kind = added.kind AND r.first_block = added.last_block + 1
    RETURNING r.last_block INTO new_last;
    new_last := coalesce(new_last, added.last_block);
    UPDATE packhouse.published_run AS r SET last_block = new_last
    WHERE r.network_id = added.network_id AND r.kind = added.kind AND r.last_block = added.first_block - 1
      AND r.first_block = (
        SELECT max(before.first_block) FROM packhouse.published_run AS before
        WHERE before.network_id = added.network_id AND before.kind = added.kind
          AND before.first_block < added.first_block
      );
    IF NOT FOUND THEN
      INSERT INTO packhouse.published_run (network_id, kind, first_block, last_block)
      VALUES (added.network_id, added.kind, added.first_block, new_last);
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.bundle_runs_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removed record;
  run record;
BEGIN
  FOR removed IN SELECT network_id, kind, first_block, last_block FROM deleted LOOP
    DELETE FROM packhouse.published_run AS r
    WHERE r.network_id = removed.network_id AND r.kind = removed.kind AND r.last_block >= removed.last_block
      AND r.first_block = (
        SELECT max(before.first_block) FROM packhouse.published_run AS before
        WHERE before.network_id = removed.network_id AND before.kind = removed.kind
          AND before.first_block <= removed.first_block
      )
    RETURNING r.first_block, r.last_block INTO run;
    CONTINUE WHEN NOT FOUND;
    IF run.first_block < removed.first_block THEN
      INSERT INTO packhouse.published_run (network_id, kind, first_block, last_block)
      VALUES (removed.network_id, removed.kind, run.first_block, removed.first_block - 1);
    END IF;
    IF run.last_block > removed.last_block THEN
      INSERT INTO packhouse.published_run (network_id, kind, first_block, last_block)
      VALUES (removed.network_id, removed.kind, removed.last_block + 1, run.last_block);
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.published_chunk_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- 65,536 rows; a range that no bundle has would fill the disk.
  IF EXISTS (SELECT FROM changed WHERE last_block - first_block >= 1073741824) THEN
    RAISE EXCEPTION 'a bundle has at most 1073741824 blocks' USING ERRCODE = 'check_violation';
  END IF;
  INSERT INTO packhouse.published_chunk AS c (network_id, kind, chunk, blocks, version)
  SELECT g.network_id, g.kind, g.chunk, CASE TG_OP WHEN 'INSERT' THEN g.blocks ELSE -g.blocks END,
    coalesce((SELECT max(o.version) FROM packhouse.published_chunk AS o
      WHERE o.network_id = g.network_id AND o.kind = g.kind), 0) + 1
  FROM (
    SELECT b.network_id, b.kind, n AS chunk,
      sum(least(b.last_block, n * 16384 + 16383) - greatest(b.first_block, n * 16384) + 1) AS blocks
    FROM changed AS b, generate_series(b.first_block / 16384, b.last_block / 16384) AS n
    GROUP BY b.network_id, b.kind, n
  ) AS g
  ORDER BY g.network_id, g.kind, g.chunk
  ON CONFLICT (network_id, kind, chunk) DO UPDATE SET blocks = c.blocks + excluded.blocks, version = excluded.version;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.published_pace_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO packhouse.published_pace AS p (network_id, kind, chunk, slot, blocks)
  SELECT b.network_id, b.kind, n, floor(extract(epoch FROM b.published_at) / 600)::int4,
    CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END
      * sum(least(b.last_block, n * 16384 + 16383) - greatest(b.first_block, n * 16384) + 1)
  FROM changed AS b, generate_series(b.first_block / 16384, b.last_block / 16384) AS n
  WHERE b.version = 1 AND b.published_at > now() - interval '1 day'
  GROUP BY 1, 2, 3, 4
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (network_id, kind, chunk, slot) DO UPDATE SET blocks = p.blocks + excluded.blocks;
  DELETE FROM packhouse.published_pace AS p USING (SELECT DISTINCT network_id, kind FROM changed) AS c
  WHERE p.network_id = c.network_id AND p.kind = c.kind
    AND p.slot < floor(extract(epoch FROM now() - interval '1 day') / 600)::int4;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.reopen_backfills() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  networks smallint[];
BEGIN
  WITH reopened AS (
    UPDATE packhouse.backfill AS b SET done = false
    FROM deleted AS d
    WHERE b.done AND b.network_id = d.network_id AND (b.kinds >> d.kind) & 1 = 1
      AND int8range(b.first_block, coalesce(b.last_block, 9007199254740991), '[]')
        && int8range(d.first_block, d.last_block, '[]')
    RETURNING b.network_id
  )
  SELECT array_agg(network_id) INTO networks FROM reopened;
  IF networks IS NOT NULL THEN PERFORM packhouse.raise_requested_version(networks); END IF;
  RETURN NULL;
END
$$;

-- Triggers fire in the order of their names. bundle_inserted and bundle_deleted come first and lock the row of
-- `published`: one publisher of a kind commits at a time, so a chunk version that was seen is never followed by a lower one.
CREATE TRIGGER bundle_is_immutable BEFORE UPDATE ON packhouse.bundle
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_is_immutable();
CREATE TRIGGER bundle_inserted AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_inserted();
CREATE TRIGGER bundle_deleted AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_deleted();
CREATE TRIGGER bundle_truncated AFTER TRUNCATE ON packhouse.bundle
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_truncated();
CREATE TRIGGER bundle_runs_inserted AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_inserted();
CREATE TRIGGER bundle_runs_deleted AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_deleted();
CREATE TRIGGER published_chunk_inserted AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_changed();
CREATE TRIGGER published_chunk_deleted AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_changed();
CREATE TRIGGER published_pace_inserted AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_pace_changed();
CREATE TRIGGER published_pace_deleted AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_pace_changed();
CREATE TRIGGER reopen_backfills AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.reopen_backfills();

-- The manifest: per network and kind an append-only, hash-chained, signed log of published bundles.

CREATE TABLE packhouse.signing_key (
  id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL UNIQUE CHECK (octet_length(public_key) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  retired_at timestamptz
);
COMMENT ON TABLE packhouse.signing_key IS
  'Public halves of the keys that sign entries. The private half is never in the database.';
COMMENT ON COLUMN packhouse.signing_key.key_id IS 'First 16 hex digits of the SHA-256 of the raw public key.';
CREATE UNIQUE INDEX signing_key_current ON packhouse.signing_key ((retired_at IS NULL)) WHERE retired_at IS NULL;
COMMENT ON INDEX packhouse.signing_key_current IS 'One key signs at a time.';

CREATE TABLE packhouse.manifest_origin (
  id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  producer text NOT NULL,
  clients text[] NOT NULL,
  UNIQUE (producer, clients)
);
COMMENT ON TABLE packhouse.manifest_origin IS
  'The program that made a bundle and the node clients that returned its blocks: the same few for millions of entries.';

CREATE TABLE packhouse.manifest (
  first_block int8 NOT NULL,
  last_block int8 NOT NULL,
  byte_length int8 NOT NULL,
  raw_length int8 NOT NULL,
  published_at timestamptz NOT NULL,
  sequence int4 NOT NULL,
  proofs int4 NOT NULL,
  origin_id int4 NOT NULL,
  filter_bytes int4 NOT NULL DEFAULT 0,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  version int2 NOT NULL,
  key_id smallint NOT NULL,
  sha256 bytea NOT NULL,
  first_hash bytea NOT NULL,
  first_parent_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  hash bytea NOT NULL,
  signature bytea NOT NULL,
  supersedes bytea NOT NULL DEFAULT '',
  not_proved text NOT NULL DEFAULT '',
  filter_sha256 bytea NOT NULL DEFAULT '',
  PRIMARY KEY (network_id, kind, sequence)
);
COMMENT ON TABLE packhouse.manifest IS
  'One row per entry, ten million and more: no column is null (no bitmap), wide columns come first (no padding), repeated texts are in other tables. The JSON line is made from the row; its stored hash shows that it is the same.';
COMMENT ON COLUMN packhouse.manifest.published_at IS 'Whole milliseconds.';
COMMENT ON COLUMN packhouse.manifest.sequence IS '0, 1, 2, … per network and kind, without a gap.';
COMMENT ON COLUMN packhouse.manifest.supersedes IS 'SHA-256 of the version before; empty: there is none';
COMMENT ON COLUMN packhouse.manifest.filter_sha256 IS 'Empty, with filter_bytes 0: no filter';
CREATE INDEX manifest_range ON packhouse.manifest (network_id, kind, first_block) INCLUDE (sequence);
COMMENT ON INDEX packhouse.manifest_range IS 'Entries of a block range: all versions of a bundle have the same range.';
CREATE INDEX manifest_superseding ON packhouse.manifest (network_id, kind, sequence) WHERE supersedes <> '';
COMMENT ON INDEX packhouse.manifest_superseding IS 'Repairs after a position in the log, which feeds report.';

CREATE FUNCTION packhouse.manifest_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an entry of the manifest never changes' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER manifest_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON packhouse.manifest
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.manifest_is_append_only();

CREATE TABLE packhouse.manifest_pending (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block int8 NOT NULL,
  version int2 NOT NULL,
  PRIMARY KEY (network_id, kind, first_block, version)
);
COMMENT ON TABLE packhouse.manifest_pending IS
  'Bundles published without an entry, by a program without the signing key. The next packer appends their entries.';

CREATE TABLE packhouse.manifest_stored (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  sequence int4 NOT NULL,
  PRIMARY KEY (network_id, kind)
);
COMMENT ON TABLE packhouse.manifest_stored IS
  'The last entry of each log that is in the object store too. It goes back with the log if the database is set back.';

CREATE FUNCTION packhouse.bundle_unsealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A transaction that appends the entry itself sets this.
  IF current_setting('packhouse.sealed', true) IS DISTINCT FROM 'yes' THEN
    INSERT INTO packhouse.manifest_pending (network_id, kind, first_block, version)
    SELECT network_id, kind, first_block, version FROM inserted
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER bundle_unsealed AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_unsealed();

CREATE TABLE packhouse.lake_table (
  network_id smallint NOT NULL REFERENCES packhouse.network,
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 7),
  snapshot int8 NOT NULL,
  oldest_snapshot int8 NOT NULL DEFAULT 1,
  made_at timestamptz NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  fields jsonb NOT NULL,
  heads jsonb NOT NULL,
  PRIMARY KEY (network_id, kind)
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.lake_table IS
  'Tables of the lake: the bundles of a kind as columns. A row is the pointer to its newest snapshot, which one transaction moves together with the files.';
COMMENT ON COLUMN packhouse.lake_table.snapshot IS 'Of the last change of files: 1, 2, 3, …';
COMMENT ON COLUMN packhouse.lake_table.oldest_snapshot IS 'Files of earlier snapshots may be deleted.';
COMMENT ON COLUMN packhouse.lake_table.fields IS 'Columns: [{id, name, type, required}]. An id stays for ever.';
COMMENT ON COLUMN packhouse.lake_table.heads IS
  'By kind, the last entry of the manifest up to which everything is in the table: {sequence, hash}';

CREATE TABLE packhouse.lake_file (
  network_id smallint NOT NULL,
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 7),
  first_block int8 NOT NULL CHECK (first_block >= 0),
  last_block int8 NOT NULL CHECK (last_block >= first_block AND last_block < 281474976710656),
  row_count int8 NOT NULL,
  byte_length int8 NOT NULL,
  added_snapshot int8 NOT NULL,
  removed_snapshot int8 CHECK (removed_snapshot > added_snapshot),
  removed_at timestamptz CHECK ((removed_at IS NULL) = (removed_snapshot IS NULL)),
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  sources bytea NOT NULL CHECK (octet_length(sources) = 32),
  object_key text NOT NULL,
  rebuild boolean NOT NULL DEFAULT false,
  stats jsonb NOT NULL,
  lacks jsonb NOT NULL,
  PRIMARY KEY (network_id, kind, first_block, last_block, added_snapshot),
  FOREIGN KEY (network_id, kind) REFERENCES packhouse.lake_table,
  CONSTRAINT lake_file_overlap EXCLUDE USING gist (
    int8range(
      ((network_id::int8 * 8 + kind) << 48) + first_block,
      ((network_id::int8 * 8 + kind) << 48) + last_block,
      '[]'
    ) WITH &&
  ) WHERE (removed_snapshot IS NULL)
);
COMMENT ON TABLE packhouse.lake_file IS
  'Parquet files of the tables of the lake. A snapshot has those that were added by then and not removed.';
COMMENT ON COLUMN packhouse.lake_file.removed_snapshot IS
  'null: it is in the newest snapshot. Its object is deleted some time after removed_at.';
COMMENT ON COLUMN packhouse.lake_file.sources IS 'SHA-256 over the bundles that it was made of, and its columns';
COMMENT ON COLUMN packhouse.lake_file.rebuild IS 'It is to be written again: it is damaged, or an operator says so.';
COMMENT ON COLUMN packhouse.lake_file.stats IS 'By id of the field: {min, max, nulls}';
COMMENT ON COLUMN packhouse.lake_file.lacks IS
  'By name of a kind: [{firstBlock, lastBlock}], the blocks whose rows are without its data.';
CREATE INDEX lake_file_removed ON packhouse.lake_file (removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX lake_file_rebuild ON packhouse.lake_file (network_id, kind, first_block)
  WHERE rebuild AND removed_snapshot IS NULL;

CREATE TABLE packhouse.lake_entry (
  snapshot int8 NOT NULL,
  first_block int8 NOT NULL,
  last_block int8 NOT NULL,
  row_count int8 NOT NULL,
  byte_length int8 NOT NULL,
  published_at timestamptz NOT NULL,
  sequence int4 NOT NULL,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  key_id smallint NOT NULL REFERENCES packhouse.signing_key,
  removes boolean NOT NULL,
  sha256 bytea NOT NULL,
  sources bytea NOT NULL,
  hash bytea NOT NULL,
  signature bytea NOT NULL,
  file text NOT NULL,
  PRIMARY KEY (network_id, kind, sequence)
);
COMMENT ON TABLE packhouse.lake_entry IS
  'The signed logs of the tables of the lake: a row per file that a snapshot adds or takes out. It stays if the table is begun anew.';
COMMENT ON COLUMN packhouse.lake_entry.published_at IS 'Whole milliseconds.';
COMMENT ON COLUMN packhouse.lake_entry.sequence IS '0, 1, 2, … per network and table, without a gap.';
CREATE TRIGGER lake_entry_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON packhouse.lake_entry
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.manifest_is_append_only();

CREATE TABLE packhouse.lake_control (
  network_id smallint PRIMARY KEY REFERENCES packhouse.network,
  paused boolean NOT NULL DEFAULT false,
  windows text[] NOT NULL DEFAULT '{}',
  share real NOT NULL DEFAULT 1 CHECK (share > 0 AND share <= 1)
);
COMMENT ON TABLE packhouse.lake_control IS 'How operators have the tables of a network written; without a row always and as fast as possible.';
COMMENT ON COLUMN packhouse.lake_control.windows IS 'When files of history are written; empty: at any time';
COMMENT ON COLUMN packhouse.lake_control.share IS 'Of the time, for which history is written; after a file the writer rests.';

CREATE TABLE packhouse.audit (
  network_id smallint PRIMARY KEY REFERENCES packhouse.network,
  finished_at timestamptz NOT NULL,
  bundles int8 NOT NULL,
  bytes_read int8 NOT NULL,
  findings int8 NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.audit IS
  'Result of the last scheduled audit of each network, by which packers decide when the next one is due.';

------------------------------------------------------------------------------------------------------------- gateway

CREATE TABLE packhouse.application (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  owner_id int4,
  description text NOT NULL DEFAULT '' CHECK (length(description) <= 1000),
  contact text NOT NULL DEFAULT '' CHECK (length(contact) <= 200),
  created_at timestamptz NOT NULL DEFAULT now(),
  archived_at timestamptz
);
COMMENT ON TABLE packhouse.application IS
  'What API keys belong to. Its name is unique, as spending and NFT jobs are kept by it, and does not change.';
COMMENT ON COLUMN packhouse.application.owner_id IS 'The account that manages it; null: operators alone';
COMMENT ON COLUMN packhouse.application.contact IS 'Whom operators ask: an address, a channel, a team';
COMMENT ON COLUMN packhouse.application.archived_at IS 'Since when it has no keys that work, and gets none';
CREATE INDEX application_owner ON packhouse.application (owner_id);

CREATE TABLE packhouse.plan (
  name text PRIMARY KEY,
  position int2 NOT NULL UNIQUE,
  max_block int8,
  requests_per_second int4 NOT NULL,
  requests_per_day int8,
  requests_per_month int8,
  methods_per_second jsonb NOT NULL DEFAULT '{}',
  max_log_range int8
);
COMMENT ON TABLE packhouse.plan IS 'Limits of keys. null: no limit';
COMMENT ON COLUMN packhouse.plan.position IS 'The order in lists.';
COMMENT ON COLUMN packhouse.plan.max_block IS 'Highest block that bundles and downloads may touch.';
COMMENT ON COLUMN packhouse.plan.requests_per_day IS 'In units, per UTC day; requests_per_month per UTC month.';
COMMENT ON COLUMN packhouse.plan.methods_per_second IS 'Calls per second of single methods: {"eth_getLogs": 5}';
COMMENT ON COLUMN packhouse.plan.max_log_range IS 'Most blocks of one eth_getLogs.';
INSERT INTO packhouse.plan (name, position, max_block, requests_per_second, requests_per_day) VALUES
  ('free', 1, 3000000, 25, 100000),
  ('standard', 2, NULL, 250, NULL),
  ('unlimited', 3, NULL, 1000000, NULL);

CREATE TABLE packhouse.api_key (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id int8 NOT NULL REFERENCES packhouse.application,
  plan text NOT NULL REFERENCES packhouse.plan,
  network text,
  prefix text NOT NULL UNIQUE,
  sha256 bytea NOT NULL UNIQUE,
  old_sha256 bytea UNIQUE,
  old_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  origins text[] NOT NULL DEFAULT '{}',
  addresses text[] NOT NULL DEFAULT '{}',
  methods text[] NOT NULL DEFAULT '{}',
  contracts text[] NOT NULL DEFAULT '{}',
  max_log_range int8,
  logged_until timestamptz,
  params_until timestamptz,
  CHECK ((old_sha256 IS NULL) = (old_until IS NULL))
);
CREATE INDEX api_key_application ON packhouse.api_key (application_id);
CREATE INDEX api_key_expiry ON packhouse.api_key (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;
COMMENT ON COLUMN packhouse.api_key.old_sha256 IS 'Of the secret before, which works too until old_until';
COMMENT ON COLUMN packhouse.api_key.logged_until IS 'Until when gateways write its requests to key_request; null: they do not';
COMMENT ON COLUMN packhouse.api_key.params_until IS 'Until when they write parameters of calls too; null: they do not';
COMMENT ON COLUMN packhouse.api_key.network IS 'By name, as a key may exist before its network is registered; null: all';
COMMENT ON COLUMN packhouse.api_key.prefix IS 'The part that may be shown.';
COMMENT ON COLUMN packhouse.api_key.origins IS 'Browser origins that may use it: https://app.example.com, *.example.com; empty: all';
COMMENT ON COLUMN packhouse.api_key.addresses IS 'Client addresses that may use it, in CIDR notation; empty: all';
COMMENT ON COLUMN packhouse.api_key.methods IS 'JSON-RPC methods, bundle-api, download, nft, usage; empty: all';
COMMENT ON COLUMN packhouse.api_key.contracts IS 'Contracts that calls may read, in lower case; empty: all';
COMMENT ON COLUMN packhouse.api_key.max_log_range IS 'Most blocks of one eth_getLogs, if that is less than its plan allows.';

CREATE TABLE packhouse.key_usage (
  key_id int8 NOT NULL,
  day int4 NOT NULL,
  requests int8 NOT NULL,
  calls int8 NOT NULL DEFAULT 0,
  downloads int8 NOT NULL DEFAULT 0,
  errors int8 NOT NULL DEFAULT 0,
  bytes int8 NOT NULL DEFAULT 0,
  last_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (key_id, day)
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.key_usage IS
  'Units per key and day, from which quotas are read if gateways have no Redis. The other columns are sums of method_usage, from which the history is sampled: one row a key instead of one a method.';
COMMENT ON COLUMN packhouse.key_usage.requests IS 'In units.';
COMMENT ON COLUMN packhouse.key_usage.last_at IS 'When a gateway last counted something';
COMMENT ON COLUMN packhouse.key_usage.calls IS 'All requests but downloads.';
CREATE INDEX key_usage_day ON packhouse.key_usage (day);

CREATE TABLE packhouse.method_usage (
  key_id int8 NOT NULL,
  day int4 NOT NULL,
  network text NOT NULL,
  method text NOT NULL,
  requests int8 NOT NULL,
  units int8 NOT NULL,
  errors int8 NOT NULL,
  bytes int8 NOT NULL,
  PRIMARY KEY (key_id, day, network, method)
) WITH (fillfactor = 50);
COMMENT ON COLUMN packhouse.method_usage.method IS 'A JSON-RPC method that the network offers, other, batch, or a route.';
CREATE INDEX method_usage_day ON packhouse.method_usage (day);

CREATE UNLOGGED TABLE packhouse.key_request (
  id int8 GENERATED ALWAYS AS IDENTITY,
  key_id int8 NOT NULL,
  at timestamptz NOT NULL,
  network text NOT NULL,
  method text NOT NULL,
  calls int4 NOT NULL,
  status int2 NOT NULL,
  outcome text NOT NULL,
  ms float8 NOT NULL,
  units int8 NOT NULL,
  bytes int8 NOT NULL,
  left_out int4 NOT NULL,
  params text CHECK (length(params) <= 2000),
  PRIMARY KEY (key_id, id)
);
COMMENT ON TABLE packhouse.key_request IS
  'Requests of keys whose log an operator or the holder turned on, without parameters unless an admin or an owner asks for them: the last 1,000 of a key, for a day. Unlogged: worthless after a crash.';
COMMENT ON COLUMN packhouse.key_request.method IS 'Of a batch up to ten, separated by spaces; else a method or a route';
COMMENT ON COLUMN packhouse.key_request.outcome IS 'ok, aborted, why it was refused, or JSON-RPC codes';
COMMENT ON COLUMN packhouse.key_request.left_out IS 'Requests of the key before this one that its gateway left out, as there were too many';
COMMENT ON COLUMN packhouse.key_request.params IS 'Of the calls, cut and without secrets; null: nobody asked for them';
CREATE INDEX key_request_at ON packhouse.key_request (at);

CREATE UNLOGGED TABLE packhouse.rpc_filter (
  id bytea PRIMARY KEY,
  network text NOT NULL,
  key_id int8 NOT NULL,
  state text NOT NULL,
  version int4 NOT NULL DEFAULT 1,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 60);
COMMENT ON TABLE packhouse.rpc_filter IS
  'Filters of eth_newFilter and similar methods. Unlogged: they last minutes and change with every poll, and clients create them again if Postgres crashed.';
COMMENT ON COLUMN packhouse.rpc_filter.id IS '16 random bytes.';
COMMENT ON COLUMN packhouse.rpc_filter.key_id IS '0: an open network';
COMMENT ON COLUMN packhouse.rpc_filter.state IS 'JSON of the gateway.';
COMMENT ON COLUMN packhouse.rpc_filter.version IS 'Changes with every write, so that one of two concurrent polls fails.';
CREATE INDEX rpc_filter_key ON packhouse.rpc_filter (key_id);
CREATE INDEX rpc_filter_expiry ON packhouse.rpc_filter (expires_at);

CREATE UNLOGGED TABLE packhouse.pending_transaction (
  network text NOT NULL,
  sequence int8 GENERATED ALWAYS AS IDENTITY,
  hash bytea NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (network, sequence),
  UNIQUE (network, hash)
);
COMMENT ON TABLE packhouse.pending_transaction IS
  'Hashes of transactions that wait to be mined, in the order they were seen. One gateway per network writes them.';
CREATE INDEX pending_transaction_age ON packhouse.pending_transaction (seen_at);

CREATE UNLOGGED TABLE packhouse.advertised_tip (
  network text NOT NULL,
  tag text NOT NULL,
  block int8 NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (network, tag)
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.advertised_tip IS
  'The highest block numbers that gateways returned, so that no gateway answers below another. Valid for half a minute after a gateway last saw a node with the block.';
COMMENT ON COLUMN packhouse.advertised_tip.network IS 'As the gateway names it, with its chain id.';
COMMENT ON COLUMN packhouse.advertised_tip.tag IS 'latest, safe or finalized.';

CREATE TABLE packhouse.nft_job (
  id bytea PRIMARY KEY,
  network text NOT NULL,
  target text NOT NULL,
  contract text,
  owner text,
  token_id text,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'done')),
  found boolean NOT NULL,
  complete boolean NOT NULL,
  failures int4 NOT NULL DEFAULT 0,
  takeovers int4 NOT NULL DEFAULT 0,
  lease bytea,
  due_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
) WITH (fillfactor = 70);
COMMENT ON TABLE packhouse.nft_job IS
  'Refreshes of token metadata. The state of a job is only here: if a gateway ends, another continues.';
COMMENT ON COLUMN packhouse.nft_job.id IS '16 random bytes.';
COMMENT ON COLUMN packhouse.nft_job.target IS 'What is refreshed, as one name: one open job per target.';
COMMENT ON COLUMN packhouse.nft_job.token_id IS '0x hex without leading zeros.';
COMMENT ON COLUMN packhouse.nft_job.found IS 'Its tokens are known.';
COMMENT ON COLUMN packhouse.nft_job.complete IS 'Its known tokens are all there are.';
COMMENT ON COLUMN packhouse.nft_job.failures IS 'How often it was postponed because no node answered.';
COMMENT ON COLUMN packhouse.nft_job.takeovers IS 'How often its lease expired.';
COMMENT ON COLUMN packhouse.nft_job.lease IS 'The gateway that runs it; one that lost its lease writes nothing more.';
COMMENT ON COLUMN packhouse.nft_job.due_at IS 'When it may be started; while it runs, the end of its lease.';
CREATE UNIQUE INDEX nft_job_target ON packhouse.nft_job (network, target) WHERE status <> 'done';
CREATE INDEX nft_job_due ON packhouse.nft_job (due_at) WHERE status <> 'done';
CREATE INDEX nft_job_finished ON packhouse.nft_job (finished_at) WHERE status = 'done';

CREATE TABLE packhouse.nft_job_requester (
  job_id bytea NOT NULL REFERENCES packhouse.nft_job ON DELETE CASCADE,
  application text NOT NULL,
  PRIMARY KEY (job_id, application)
);
COMMENT ON TABLE packhouse.nft_job_requester IS 'Applications that requested a job and may read its state.';
CREATE INDEX nft_job_requester_application ON packhouse.nft_job_requester (application);

CREATE TABLE packhouse.nft_job_token (
  job_id bytea NOT NULL REFERENCES packhouse.nft_job ON DELETE CASCADE,
  position int4 NOT NULL,
  contract text NOT NULL,
  token_id text NOT NULL,
  outcome text,
  requested_at timestamptz,
  refreshed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (job_id, position)
) WITH (fillfactor = 70);
COMMENT ON COLUMN packhouse.nft_job_token.outcome IS 'null: not yet';
COMMENT ON COLUMN packhouse.nft_job_token.refreshed IS 'false: the outcome is that of another job shortly before.';

CREATE TABLE packhouse.nft_token (
  network text NOT NULL,
  contract text NOT NULL,
  token_id text NOT NULL,
  requested_at timestamptz NOT NULL,
  requested_by bytea REFERENCES packhouse.nft_job ON DELETE SET NULL,
  outcome text,
  standard text,
  uri text,
  metadata text,
  indexed_at timestamptz,
  PRIMARY KEY (network, contract, token_id)
) WITH (fillfactor = 70);
COMMENT ON COLUMN packhouse.nft_token.requested_at IS 'By the gateway''s clock.';
COMMENT ON COLUMN packhouse.nft_token.requested_by IS 'The job that is fetching it now.';
COMMENT ON COLUMN packhouse.nft_token.outcome IS 'Of the last fetch; null: none yet';
COMMENT ON COLUMN packhouse.nft_token.standard IS 'erc721 or erc1155.';
COMMENT ON COLUMN packhouse.nft_token.uri IS 'As the contract returned it, {id} replaced; of a data: URI only the beginning.';
COMMENT ON COLUMN packhouse.nft_token.metadata IS 'JSON as last fetched.';
CREATE INDEX nft_token_asking ON packhouse.nft_token (requested_by) WHERE requested_by IS NOT NULL;

----------------------------------------------------------------------------------------------------------- operators

CREATE TABLE packhouse.operator (
  id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
  role text NOT NULL CHECK (role IN ('owner', 'viewer', 'operator', 'admin')),
  password text,
  subject text UNIQUE CHECK (length(subject) <= 2000),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE packhouse.operator IS 'Accounts of the console and the admin API.';
COMMENT ON COLUMN packhouse.operator.role IS 'owner: sees and manages the applications that it owns, and nothing else';
ALTER TABLE packhouse.application ADD FOREIGN KEY (owner_id) REFERENCES packhouse.operator ON DELETE SET NULL;
COMMENT ON COLUMN packhouse.operator.subject IS
  'Issuer and subject of an OIDC provider, whose claims decide on the role at each sign-in; null: none';
COMMENT ON COLUMN packhouse.operator.password IS 'Argon2id in PHC format; null: no password';

CREATE TABLE packhouse.operator_secret (
  sha256 bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
  kind text NOT NULL CHECK (kind IN ('link', 'session', 'token')),
  operator_id int4 REFERENCES packhouse.operator (id) ON DELETE CASCADE,
  key_id int8 REFERENCES packhouse.api_key (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'viewer', 'operator', 'admin')),
  label text NOT NULL DEFAULT '' CHECK (length(label) <= 200),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CHECK ((operator_id IS NULL) <> (key_id IS NULL)),
  CHECK (role = 'owner' OR key_id IS NULL)
);
COMMENT ON TABLE packhouse.operator_secret IS
  'One-time links, browser sessions and API tokens, of an operator or of an API key''s holder, who sees the usage of that key only. Only the SHA-256 of a secret is kept.';
CREATE INDEX operator_secret_operator ON packhouse.operator_secret (operator_id);
CREATE INDEX operator_secret_key ON packhouse.operator_secret (key_id);

CREATE TABLE packhouse.secret_seal (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  seal bytea NOT NULL CHECK (octet_length(seal) = 32)
);
COMMENT ON TABLE packhouse.secret_seal IS
  'One row: the key of the MAC in each secret, by which forged ones are refused without a query. Deleting it ends all sessions, links and tokens.';

CREATE TABLE packhouse.sign_in_failure (
  subject text PRIMARY KEY CHECK (length(subject) <= 300),
  failures int4 NOT NULL,
  last_at timestamptz NOT NULL
);
COMMENT ON COLUMN packhouse.sign_in_failure.subject IS 'A name, or the address of a client.';

CREATE TABLE packhouse.sign_in (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  method text NOT NULL CHECK (method IN ('link', 'password', 'key', 'oidc')),
  name text NOT NULL CHECK (length(name) <= 200),
  address text NOT NULL,
  outcome text NOT NULL
);
COMMENT ON TABLE packhouse.sign_in IS 'Sign-ins to the console, kept for a year; of refused ones the last 50,000.';
COMMENT ON COLUMN packhouse.sign_in.name IS 'As it was given, or the prefix of a key; empty: unknown';
COMMENT ON COLUMN packhouse.sign_in.address IS 'Of the client; of IPv6 its /64';
COMMENT ON COLUMN packhouse.sign_in.outcome IS 'accepted, or the code of the error';
CREATE INDEX sign_in_at ON packhouse.sign_in (at);
CREATE INDEX sign_in_refused ON packhouse.sign_in (id) WHERE outcome <> 'accepted';

CREATE TABLE packhouse.oidc_state (
  sha256 bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE packhouse.oidc_state IS 'States of OIDC that a provider has returned: each works once.';

CREATE TABLE packhouse.change (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL,
  subject text NOT NULL,
  action text NOT NULL,
  before jsonb,
  after jsonb
);
COMMENT ON TABLE packhouse.change IS 'Changes by operators, kept for a year.';
COMMENT ON COLUMN packhouse.change.subject IS 'Kind and name: backfill 7';
COMMENT ON COLUMN packhouse.change.action IS 'add, set, pause, …';
COMMENT ON COLUMN packhouse.change.before IS 'null: it did not exist';
COMMENT ON COLUMN packhouse.change.after IS 'null: it was removed';
CREATE INDEX change_subject ON packhouse.change (subject, id);
CREATE INDEX change_at ON packhouse.change (at);

CREATE TABLE packhouse.worker (
  id uuid PRIMARY KEY,
  role text NOT NULL,
  host text NOT NULL,
  pid int4 NOT NULL,
  networks text[] NOT NULL,
  networks_digest text NOT NULL,
  networks_problem text,
  slots int4 NOT NULL,
  jobs jsonb NOT NULL,
  draining_since timestamptz,
  sends_mail bool,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.worker IS
  'Processes that run jobs. Each writes a heartbeat every few seconds; one without a recent heartbeat has ended.';
COMMENT ON COLUMN packhouse.worker.role IS 'ingester or packer.';
COMMENT ON COLUMN packhouse.worker.networks IS 'Names of the networks whose jobs it runs.';
COMMENT ON COLUMN packhouse.worker.networks_digest IS 'Of its networks file: equal digests mean equal files.';
COMMENT ON COLUMN packhouse.worker.networks_problem IS 'Why it refused the last change of that file.';
COMMENT ON COLUMN packhouse.worker.slots IS 'Jobs that it runs at a time.';
COMMENT ON COLUMN packhouse.worker.jobs IS 'Jobs that it runs now: [{"job", "seconds"}]';
COMMENT ON COLUMN packhouse.worker.sends_mail IS 'Of packers: whether it has an SMTP server.';
COMMENT ON COLUMN packhouse.worker.draining_since IS
  'Since when an operator lets it start no further job; null: it takes jobs';

CREATE UNLOGGED TABLE packhouse.node_report (
  process uuid NOT NULL,
  network text NOT NULL,
  upstream text NOT NULL,
  provider text NOT NULL,
  role text NOT NULL,
  host text NOT NULL,
  report jsonb NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (process, network, upstream)
);
COMMENT ON TABLE packhouse.node_report IS
  'State of each upstream as each ingester and gateway sees it, written every few seconds. Unlogged: worthless after a crash.';
COMMENT ON COLUMN packhouse.node_report.report IS 'NodeReport of packages/database.';

CREATE TABLE packhouse.node_cordon (
  network text NOT NULL,
  upstream text NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (network, upstream)
);
COMMENT ON TABLE packhouse.node_cordon IS 'Upstreams that operators cordoned: no process sends them requests.';

CREATE TABLE packhouse.budget (
  provider text PRIMARY KEY,
  unit text NOT NULL CHECK (unit IN ('requests', 'units')),
  per_second float8,
  per_day int8,
  per_month int8,
  weights jsonb NOT NULL DEFAULT '{}',
  reserve float8 NOT NULL,
  price_per_million float8,
  currency text
);
COMMENT ON TABLE packhouse.budget IS
  'Limits of requests to a provider, over all machines, per second, UTC day and UTC month. null: no limit';
COMMENT ON COLUMN packhouse.budget.provider IS 'As upstreams of the networks file name it.';
COMMENT ON COLUMN packhouse.budget.weights IS 'Units per request: {"eth_getLogs": 75, "other": 20}; default 1';
COMMENT ON COLUMN packhouse.budget.reserve IS 'Share that backfills leave to live traffic, 0 to 0.9.';

CREATE TABLE packhouse.budget_state (
  key text PRIMARY KEY,
  state jsonb NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.budget_state IS
  'What was spent of each limit, if there is no Redis; see packages/node-rpc/src/spending.';

CREATE TABLE packhouse.budget_wait (
  network text PRIMARY KEY,
  provider text NOT NULL,
  period text NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  until timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.budget_wait IS 'Networks whose backfills wait until a budget''s next day or month.';

CREATE TABLE packhouse.upstream_usage (
  day int4 NOT NULL,
  network text NOT NULL,
  upstream text NOT NULL,
  provider text NOT NULL,
  method text NOT NULL,
  requests int8 NOT NULL,
  units int8 NOT NULL,
  bytes int8 NOT NULL,
  PRIMARY KEY (day, provider, network, upstream, method)
) WITH (fillfactor = 50);
COMMENT ON TABLE packhouse.upstream_usage IS 'Requests sent to nodes, per day; bytes are those received.';

CREATE TABLE packhouse.owner_usage (
  day int4 NOT NULL,
  owner text NOT NULL,
  requests int8 NOT NULL,
  units int8 NOT NULL,
  bytes int8 NOT NULL,
  PRIMARY KEY (day, owner)
) WITH (fillfactor = 50);
COMMENT ON COLUMN packhouse.owner_usage.owner IS 'Of the backfill, or the application of the key; -: neither';

CREATE TABLE packhouse.backfill_usage (
  backfill_id int8 PRIMARY KEY,
  day int4 NOT NULL,
  requests int8 NOT NULL,
  units int8 NOT NULL,
  bytes int8 NOT NULL,
  allowed int8 NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON COLUMN packhouse.backfill_usage.allowed IS 'Requests taken from a limit before they are sent; 0: it has none';
COMMENT ON TABLE packhouse.backfill_usage IS 'Requests sent for a backfill, over all days.';
COMMENT ON COLUMN packhouse.backfill_usage.day IS 'Of the last request.';

CREATE TABLE packhouse.schedule (
  name text PRIMARY KEY,
  owner text NOT NULL DEFAULT 'default',
  cron text,
  zone text,
  every_ms int8 CHECK (every_ms > 0),
  missed text NOT NULL DEFAULT 'once' CHECK (missed IN ('once', 'skip')),
  command text[] NOT NULL,
  setting text,
  paused bool NOT NULL DEFAULT false,
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  checked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  requested_at timestamptz,
  CHECK ((cron IS NULL) = (zone IS NULL) AND (cron IS NULL) <> (every_ms IS NULL))
);
COMMENT ON TABLE packhouse.schedule IS
  'Recurring commands. These rows are authoritative: the job schedulers of the queue are made from them.';
COMMENT ON COLUMN packhouse.schedule.cron IS 'Five fields; needs zone.';
COMMENT ON COLUMN packhouse.schedule.zone IS 'IANA name.';
COMMENT ON COLUMN packhouse.schedule.every_ms IS 'Instead of cron.';
COMMENT ON COLUMN packhouse.schedule.missed IS 'Whether a run that was due while no packer ran is made up for once.';
COMMENT ON COLUMN packhouse.schedule.command IS 'Arguments of packhouse.';
COMMENT ON COLUMN packhouse.schedule.setting IS 'The setting that it comes from; null: an operator added it';
COMMENT ON COLUMN packhouse.schedule.since IS 'Due times before do not count.';
COMMENT ON COLUMN packhouse.schedule.checked_at IS 'When a packer last checked for missed runs.';
COMMENT ON COLUMN packhouse.schedule.requested_at IS 'Due time of a run that starts at once.';

CREATE TABLE packhouse.schedule_run (
  schedule text NOT NULL,
  due timestamptz NOT NULL,
  started_at timestamptz,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('done', 'failed', 'skipped', 'missed')),
  exit_code int4,
  message text,
  PRIMARY KEY (schedule, due),
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
COMMENT ON TABLE packhouse.schedule_run IS
  'Runs by due time, at most one each. Kept for a year, also those of removed schedules.';
COMMENT ON COLUMN packhouse.schedule_run.started_at IS 'null: skipped or missed';
COMMENT ON COLUMN packhouse.schedule_run.seen_at IS 'Heartbeat, written every few seconds while it runs.';
COMMENT ON COLUMN packhouse.schedule_run.message IS 'Last line of its output, or why it did not run.';
CREATE UNIQUE INDEX schedule_run_running ON packhouse.schedule_run (schedule) WHERE ended_at IS NULL;
COMMENT ON INDEX packhouse.schedule_run_running IS 'One run per schedule at a time.';
CREATE INDEX schedule_run_seen ON packhouse.schedule_run (seen_at);

CREATE TABLE packhouse.hook (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  network_id smallint NOT NULL REFERENCES packhouse.network,
  final_only bool NOT NULL,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'quarantined')),
  start_block int8 NOT NULL CHECK (start_block >= 0),
  not_final_first int8,
  not_final_last int8,
  delivered int8 NOT NULL DEFAULT 0,
  failures int4 NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at timestamptz DEFAULT clock_timestamp(),
  delivered_at timestamptz,
  failing_since timestamptz,
  test_requested_at timestamptz,
  tested_at timestamptz,
  old_salt_until timestamptz,
  url text NOT NULL CHECK (length(url) <= 2000),
  kinds text[] NOT NULL CHECK (cardinality(kinds) > 0),
  addresses text[] NOT NULL DEFAULT '{}',
  topics text[] NOT NULL DEFAULT '{}',
  salt bytea NOT NULL CHECK (octet_length(salt) = 32),
  old_salt bytea,
  cursor text,
  waiting text,
  last_error text,
  test_outcome text,
  pending jsonb,
  CHECK ((not_final_first IS NULL) = (not_final_last IS NULL))
);
COMMENT ON TABLE packhouse.hook IS
  'Webhooks: receivers of the feed of a network, each an ordered stream of deliveries.';
COMMENT ON COLUMN packhouse.hook.not_final_first IS 'The first and last delivered block that is not final yet; null: none';
COMMENT ON COLUMN packhouse.hook.due_at IS 'When to deliver next; null: when the network changes';
COMMENT ON COLUMN packhouse.hook.test_requested_at IS 'An operator asks for a test; null: none is due';
COMMENT ON COLUMN packhouse.hook.salt IS 'The secret is the MAC of this by secret_seal; it is stored nowhere.';
COMMENT ON COLUMN packhouse.hook.old_salt IS 'Of the secret before, which signs too until old_salt_until';
COMMENT ON COLUMN packhouse.hook.cursor IS 'Of the feed, behind the last delivery that was accepted; null: it has not begun';
COMMENT ON COLUMN packhouse.hook.waiting IS 'Block and reason of the last delivered step "waiting", which is delivered once';
COMMENT ON COLUMN packhouse.hook.pending IS
  'The delivery that was begun and not accepted yet: {id, body, steps, cursor, toldFirst, toldLast, waiting}. It is repeated byte for byte.';
CREATE INDEX hook_network ON packhouse.hook (network_id) WHERE state = 'active';
CREATE INDEX hook_due ON packhouse.hook (due_at) WHERE state = 'active' AND due_at IS NOT NULL;

CREATE TABLE packhouse.condition (
  key text PRIMARY KEY CHECK (length(key) <= 400),
  family text NOT NULL CHECK (family IN ('alarm', 'backfill', 'budget', 'key', 'schedule')),
  name text NOT NULL,
  network text,
  severity text NOT NULL CHECK (severity IN ('warning', 'critical')),
  message text NOT NULL,
  alarm_id int8,
  since timestamptz NOT NULL,
  ended_at timestamptz,
  times int8 NOT NULL DEFAULT 1
) WITH (fillfactor = 70);
COMMENT ON TABLE packhouse.condition IS
  'What notifications are about, a row per thing: alarms, missed deadlines, used budgets, keys that expire, failed schedules. Written by the packer that sends notifications.';
COMMENT ON COLUMN packhouse.condition.network IS 'null: of the whole installation';
COMMENT ON COLUMN packhouse.condition.alarm_id IS 'Its last row in alarm; null: no alarm';
COMMENT ON COLUMN packhouse.condition.since IS 'When it last began';
COMMENT ON COLUMN packhouse.condition.ended_at IS 'null: open';
COMMENT ON COLUMN packhouse.condition.times IS 'How often it began';
CREATE INDEX condition_alarm ON packhouse.condition (alarm_id);
CREATE INDEX condition_open ON packhouse.condition (family) WHERE ended_at IS NULL;

CREATE TABLE packhouse.notification_channel (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('webhook', 'slack', 'email')),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
  host text NOT NULL,
  address bytea,
  recipients text[] NOT NULL DEFAULT '{}',
  salt bytea NOT NULL CHECK (octet_length(salt) = 32),
  networks text[] NOT NULL DEFAULT '{}',
  names text[] NOT NULL DEFAULT '{}',
  severity text NOT NULL CHECK (severity IN ('warning', 'critical')),
  quiet text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  active_since timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  delivered int8 NOT NULL DEFAULT 0,
  delivered_at timestamptz,
  failures int4 NOT NULL DEFAULT 0,
  failing_since timestamptz,
  last_error text,
  test_requested_at timestamptz,
  tested_at timestamptz,
  test_outcome text,
  old_salt bytea,
  old_salt_until timestamptz,
  pending jsonb,
  CHECK ((kind = 'email') = (address IS NULL) AND (kind = 'email') = (cardinality(recipients) > 0))
);
COMMENT ON TABLE packhouse.notification_channel IS 'Where notifications are sent.';
COMMENT ON COLUMN packhouse.notification_channel.host IS 'Of the address, which may be shown; of an e-mail empty';
COMMENT ON COLUMN packhouse.notification_channel.address IS 'Encrypted by a key that is derived from secret_seal.';
COMMENT ON COLUMN packhouse.notification_channel.salt IS
  'The secret that signs messages to a webhook is the MAC of this by secret_seal; it is stored nowhere.';
COMMENT ON COLUMN packhouse.notification_channel.old_salt IS 'Of the secret before, which signs too until old_salt_until';
COMMENT ON COLUMN packhouse.notification_channel.severity IS 'The lowest that is sent.';
COMMENT ON COLUMN packhouse.notification_channel.quiet IS 'Hours in which only what is critical is sent, such as "22:00-07:00 Europe/Berlin"';
COMMENT ON COLUMN packhouse.notification_channel.active_since IS 'What ended before is not sent.';
COMMENT ON COLUMN packhouse.notification_channel.due_at IS 'When the next message may be sent.';
COMMENT ON COLUMN packhouse.notification_channel.pending IS
  'The message that was begun and not accepted yet: {id, body, urgent, told}. It is repeated byte for byte.';

CREATE TABLE packhouse.notification_sent (
  channel_id int8 NOT NULL REFERENCES packhouse.notification_channel ON DELETE CASCADE,
  key text NOT NULL REFERENCES packhouse.condition ON DELETE CASCADE,
  times int8 NOT NULL,
  ended bool NOT NULL,
  begun_at timestamptz NOT NULL,
  PRIMARY KEY (channel_id, key)
) WITH (fillfactor = 70);
COMMENT ON TABLE packhouse.notification_sent IS 'What a channel accepted of each condition.';
COMMENT ON COLUMN packhouse.notification_sent.times IS 'Of the condition, when it was sent';
COMMENT ON COLUMN packhouse.notification_sent.ended IS 'Whether its end was sent';
COMMENT ON COLUMN packhouse.notification_sent.begun_at IS 'When a beginning was last sent';
CREATE INDEX notification_sent_key ON packhouse.notification_sent (key);

------------------------------------------------------------------------------------------------------------- history

-- Samples of a minute, of which each hour's become one row a series, and the means of hours. Times are whole minutes,
-- hours or days since 1970-01-01 (UTC), by the clock of Postgres. Which figures a subject has, and in which order, is in
-- packages/database/src/history/figures.ts: a migration that adds one pads the stored rows.

CREATE TABLE packhouse.history_series (
  id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subject text NOT NULL CHECK (subject IN ('installation', 'network', 'node', 'provider', 'key')),
  name text NOT NULL CHECK (length(name) <= 300),
  UNIQUE (subject, name)
);
COMMENT ON TABLE packhouse.history_series IS
  'What has samples of its own, a bounded number per subject. All others of a subject are summed in the series without a name.';

CREATE TABLE packhouse.history_minute (
  minute int4 NOT NULL,
  series int4 NOT NULL,
  figures float4[] NOT NULL,
  PRIMARY KEY (minute, series)
);
COMMENT ON TABLE packhouse.history_minute IS
  'Samples of the present hour. A minute was sampled if the series of the installation has it: then a network, key or provider without a row did nothing.';

CREATE TABLE packhouse.history_recent (
  minute int4 NOT NULL,
  subject text NOT NULL,
  series int4[] NOT NULL,
  figures float4[] NOT NULL,
  PRIMARY KEY (subject, minute)
);
COMMENT ON TABLE packhouse.history_recent IS
  'The first figure of all networks, and of all nodes, in the minutes of the last two hours: the small curves of a list read a row a minute.';

CREATE TABLE packhouse.history_hour (
  hour int4 NOT NULL,
  series int4 NOT NULL,
  minutes int2[] NOT NULL,
  figures float4[] NOT NULL,
  PRIMARY KEY (series, hour)
);
COMMENT ON TABLE packhouse.history_hour IS
  'The samples of one hour of a series, kept for seven days: a week of a curve is 168 rows that are read, not 10,080.';
COMMENT ON COLUMN packhouse.history_hour.minutes IS 'Of the hour, 0 to 59, ascending.';
COMMENT ON COLUMN packhouse.history_hour.figures IS 'Two dimensions: a row of figures for each of the minutes.';
CREATE INDEX history_hour_hour ON packhouse.history_hour (hour);

CREATE TABLE packhouse.history_day (
  day int4 NOT NULL,
  series int4 NOT NULL,
  hours int2[] NOT NULL,
  figures float4[] NOT NULL,
  PRIMARY KEY (series, day)
) WITH (fillfactor = 70);
COMMENT ON TABLE packhouse.history_day IS 'The means of the hours of one day of a series, kept for a year.';
COMMENT ON COLUMN packhouse.history_day.hours IS '0 to 23; figures has a row for each, in this order.';
CREATE INDEX history_day_day ON packhouse.history_day (day);

CREATE TABLE packhouse.history_mark (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind text NOT NULL CHECK (kind IN ('deploy', 'quarantine-begin', 'quarantine-end')),
  network text,
  subject text NOT NULL CHECK (length(subject) <= 300),
  message text NOT NULL CHECK (length(message) <= 300)
);
COMMENT ON TABLE packhouse.history_mark IS
  'Events that no other table keeps; the newest 20,000 of a year. Alarms, backfills, drains and cordons have their own tables.';
COMMENT ON COLUMN packhouse.history_mark.network IS 'null: of all';
CREATE INDEX history_mark_at ON packhouse.history_mark (at);
CREATE INDEX history_mark_deploy ON packhouse.history_mark (subject, id) WHERE kind = 'deploy';
CREATE INDEX history_mark_quarantine ON packhouse.history_mark (network, id) WHERE subject = 'quarantine';
