-- How many blocks are published of one kind, a row for each 16,384 blocks, and when that changed last: counts of long
-- ranges add rows instead of reading every run, and programs that remember what is published read again only what
-- changed.
CREATE TABLE packhouse.published_chunk (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  chunk int8 NOT NULL, -- its first block divided by 16,384
  blocks int8 NOT NULL,
  version int8 NOT NULL, -- higher than any that the kind had before
  PRIMARY KEY (network_id, kind, chunk)
);
CREATE INDEX published_chunk_version ON packhouse.published_chunk (network_id, kind, version);

CREATE FUNCTION packhouse.published_chunk_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- 65,536 rows; a range that no bundle has would fill the disk.
  IF EXISTS (SELECT FROM changed WHERE end_block - start_block >= 1073741824) THEN
    RAISE EXCEPTION 'a bundle has at most 1073741824 blocks' USING ERRCODE = 'check_violation';
  END IF;
  INSERT INTO packhouse.published_chunk AS c (network_id, kind, chunk, blocks, version)
  SELECT g.network_id, g.kind, g.chunk, CASE TG_OP WHEN 'INSERT' THEN g.blocks ELSE -g.blocks END,
    coalesce((SELECT max(o.version) FROM packhouse.published_chunk AS o
      WHERE o.network_id = g.network_id AND o.kind = g.kind), 0) + 1
  FROM (
    SELECT b.network_id, b.kind, n AS chunk,
      sum(least(b.end_block, n * 16384 + 16383) - greatest(b.start_block, n * 16384) + 1) AS blocks
    FROM changed AS b, generate_series(b.start_block / 16384, b.end_block / 16384) AS n
    GROUP BY b.network_id, b.kind, n
  ) AS g
  ORDER BY g.network_id, g.kind, g.chunk
  ON CONFLICT (network_id, kind, chunk) DO UPDATE SET blocks = c.blocks + excluded.blocks, version = excluded.version;
  RETURN NULL;
END
$$;

-- The rows stay, so that versions only grow.
CREATE FUNCTION packhouse.published_chunk_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE packhouse.published_chunk AS c SET blocks = 0, version = last.version + 1
  FROM (
    SELECT network_id, kind, max(version) AS version FROM packhouse.published_chunk GROUP BY network_id, kind
  ) AS last
  WHERE c.network_id = last.network_id AND c.kind = last.kind;
  RETURN NULL;
END
$$;

-- These fire after bundle_inserted and bundle_deleted (triggers go by name), whose row lock lets one publisher of a
-- kind commit at a time: a version that is seen is never followed by a lower one.
CREATE TRIGGER published_chunk_inserted AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_changed();
CREATE TRIGGER published_chunk_deleted AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_changed();
CREATE TRIGGER published_chunk_truncated AFTER TRUNCATE ON packhouse.bundle
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_truncated();

-- After the triggers: making them waits until nobody else is publishing.
INSERT INTO packhouse.published_chunk (network_id, kind, chunk, blocks, version)
SELECT r.network_id, r.kind, n, sum(least(r.end_block, n * 16384 + 16383) - greatest(r.start_block, n * 16384) + 1), 1
FROM packhouse.published_run AS r, generate_series(r.start_block / 16384, r.end_block / 16384) AS n
GROUP BY r.network_id, r.kind, n;
