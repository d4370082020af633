-- What is wanted of one kind, a row a run of blocks: all ranges of a state that touch are one run, so that readers cost
-- what they read, however many ranges were ordered. Kept by triggers, so that older programs keep it too.
CREATE TABLE packhouse.wanted_run (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  state text NOT NULL,
  start_block int8 NOT NULL,
  end_block int8 NOT NULL, -- 9007199254740991: no end
  PRIMARY KEY (network_id, kind, state, start_block)
);

-- Changes with every change of what a network wants: programs read the ranges again only then. Its row lock lets one
-- transaction at a time change a network's runs.
CREATE TABLE packhouse.wanted_version (
  network_id smallint PRIMARY KEY,
  version int8 NOT NULL
) WITH (fillfactor = 50);

-- Everything of it is published: it is not planned any more.
ALTER TABLE packhouse.wanted_range ADD COLUMN done boolean NOT NULL DEFAULT false;

CREATE INDEX wanted_range_open ON packhouse.wanted_range (network_id, id) WHERE state = 'active' AND NOT done;
CREATE INDEX wanted_range_last ON packhouse.wanted_range (network_id, end_block) WHERE state <> 'cancelled';
CREATE INDEX wanted_range_blocks ON packhouse.wanted_range
  USING gist (int8range(start_block, coalesce(end_block, 9007199254740991), '[]'));

CREATE FUNCTION packhouse.wanted_changed(networks smallint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO packhouse.wanted_version (network_id, version)
  SELECT DISTINCT network_id, 1 FROM unnest(networks) AS network_id ORDER BY network_id
  ON CONFLICT (network_id) DO UPDATE SET version = wanted_version.version + 1
$$;

-- Adds first..last to the runs: those that touch it become one.
CREATE FUNCTION packhouse.wanted_run_add(network smallint, of_kind smallint, of_state text, first int8, last int8)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  low int8;
  high int8;
BEGIN
  WITH gone AS (
    DELETE FROM packhouse.wanted_run AS r
    WHERE r.network_id = network AND r.kind = of_kind AND r.state = of_state
      AND r.start_block <= last + 1 AND r.end_block >= first - 1
      AND r.start_block >= coalesce((
        SELECT max(b.start_block) FROM packhouse.wanted_run AS b
        WHERE b.network_id = network AND b.kind = of_kind AND b.state = of_state AND b.start_block < first
      ), first)
    RETURNING r.start_block, r.end_block
  )
  SELECT least(first, min(start_block)), greatest(last, max(end_block)) INTO low, high FROM gone;
  INSERT INTO packhouse.wanted_run (network_id, kind, state, start_block, end_block)
  VALUES (network, of_kind, of_state, low, high);
END
$$;

-- Takes first..last, a range that is gone or has another state by now, out of the runs, but for what others still want.
CREATE FUNCTION packhouse.wanted_run_cut(network smallint, of_kind smallint, of_state text, first int8, last int8)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  beside int8multirange;
BEGIN
  -- Several runs, if an earlier cut of the same statement was within this one.
  WITH gone AS (
    DELETE FROM packhouse.wanted_run AS r
    WHERE r.network_id = network AND r.kind = of_kind AND r.state = of_state
      AND r.start_block <= last AND r.end_block >= first
      AND r.start_block >= coalesce((
        SELECT max(b.start_block) FROM packhouse.wanted_run AS b
        WHERE b.network_id = network AND b.kind = of_kind AND b.state = of_state AND b.start_block <= first
      ), first)
    RETURNING r.start_block, r.end_block
  )
  SELECT coalesce(range_agg(int8range(start_block, end_block, '[]')), '{}')
    - int8multirange(int8range(first, last, '[]')) INTO beside FROM gone;
  INSERT INTO packhouse.wanted_run (network_id, kind, state, start_block, end_block)
  SELECT network, of_kind, of_state, lower(rest), upper(rest) - 1
  FROM unnest(
    beside + coalesce((
      SELECT range_agg(int8range(w.start_block, coalesce(w.end_block, 9007199254740991), '[]')
        * int8range(first, last, '[]'))
      FROM packhouse.wanted_range AS w
      WHERE w.network_id = network AND w.state = of_state AND (w.kinds >> of_kind) & 1 = 1
        AND int8range(w.start_block, coalesce(w.end_block, 9007199254740991), '[]') && int8range(first, last, '[]')
    ), '{}')
  ) AS rest;
END
$$;

-- Writes a network's runs anew.
CREATE FUNCTION packhouse.wanted_run_rebuild(network smallint) RETURNS void LANGUAGE sql AS $$
  DELETE FROM packhouse.wanted_run WHERE network_id = network;
  INSERT INTO packhouse.wanted_run (network_id, kind, state, start_block, end_block)
  SELECT network, g.kind, g.state, lower(run), upper(run) - 1
  FROM (
    SELECT k.kind, w.state,
      range_agg(int8range(w.start_block, coalesce(w.end_block, 9007199254740991), '[]')) AS ranges
    FROM packhouse.wanted_range AS w JOIN generate_series(0, 15) AS k (kind) ON (w.kinds >> k.kind) & 1 = 1
    WHERE w.network_id = network
    GROUP BY k.kind, w.state
  ) AS g, unnest(g.ranges) AS run;
$$;

CREATE FUNCTION packhouse.wanted_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM packhouse.wanted_changed(array(SELECT network_id FROM inserted));
  PERFORM packhouse.wanted_run_add(g.network_id, g.kind, g.state, lower(run), upper(run) - 1)
  FROM (
    SELECT w.network_id, k.kind::smallint, w.state,
      range_agg(int8range(w.start_block, coalesce(w.end_block, 9007199254740991), '[]')) AS ranges
    FROM inserted AS w JOIN generate_series(0, 15) AS k (kind) ON (w.kinds >> k.kind) & 1 = 1
    GROUP BY w.network_id, k.kind, w.state
  ) AS g, unnest(g.ranges) AS run;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.wanted_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed record;
BEGIN
  PERFORM packhouse.wanted_changed(array(
    SELECT o.network_id FROM before AS o JOIN after AS n USING (id)
    WHERE (o.state, o.kinds, o.start_block, o.end_block, o.priority)
      IS DISTINCT FROM (n.state, n.kinds, n.start_block, n.end_block, n.priority)
  ));
  FOR changed IN
    SELECT o.network_id, k.kind::smallint AS kind, o.state AS old_state, n.state AS new_state,
      (o.kinds >> k.kind) & 1 = 1 AS was, (n.kinds >> k.kind) & 1 = 1 AS is_now,
      o.start_block AS old_start, coalesce(o.end_block, 9007199254740991) AS old_end,
      n.start_block AS new_start, coalesce(n.end_block, 9007199254740991) AS new_end
    FROM before AS o JOIN after AS n USING (id)
      JOIN generate_series(0, 15) AS k (kind) ON ((o.kinds | n.kinds) >> k.kind) & 1 = 1
    WHERE (o.state, o.kinds, o.start_block, o.end_block) IS DISTINCT FROM (n.state, n.kinds, n.start_block, n.end_block)
  LOOP
    IF changed.was THEN
      PERFORM packhouse.wanted_run_cut(
        changed.network_id, changed.kind, changed.old_state, changed.old_start, changed.old_end);
    END IF;
    IF changed.is_now THEN
      PERFORM packhouse.wanted_run_add(
        changed.network_id, changed.kind, changed.new_state, changed.new_start, changed.new_end);
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.wanted_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM packhouse.wanted_changed(array(SELECT network_id FROM deleted));
  PERFORM packhouse.wanted_run_rebuild(network_id) FROM (SELECT DISTINCT network_id FROM deleted) AS d;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.wanted_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM packhouse.wanted_changed(array(SELECT network_id FROM packhouse.wanted_version));
  DELETE FROM packhouse.wanted_run;
  RETURN NULL;
END
$$;

-- A range of which a bundle is gone is planned again.
CREATE FUNCTION packhouse.wanted_reopened() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  networks smallint[];
BEGIN
  WITH reopened AS (
    UPDATE packhouse.wanted_range AS w SET done = false
    FROM deleted AS d
    WHERE w.done AND w.network_id = d.network_id AND (w.kinds >> d.kind) & 1 = 1
      AND int8range(w.start_block, coalesce(w.end_block, 9007199254740991), '[]')
        && int8range(d.start_block, d.end_block, '[]')
    RETURNING w.network_id
  )
  SELECT array_agg(network_id) INTO networks FROM reopened;
  IF networks IS NOT NULL THEN PERFORM packhouse.wanted_changed(networks); END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER wanted_inserted AFTER INSERT ON packhouse.wanted_range
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_inserted();
CREATE TRIGGER wanted_updated AFTER UPDATE ON packhouse.wanted_range
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_updated();
CREATE TRIGGER wanted_deleted AFTER DELETE ON packhouse.wanted_range
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_deleted();
CREATE TRIGGER wanted_truncated AFTER TRUNCATE ON packhouse.wanted_range
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_truncated();
CREATE TRIGGER wanted_reopened AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_reopened();

-- After the triggers: making them waits until nobody else is changing ranges.
SELECT packhouse.wanted_changed(array(SELECT id FROM packhouse.network));
SELECT packhouse.wanted_run_rebuild(id) FROM packhouse.network;
