-- The runs of what is wanted are kept by a few statements for each statement that changes ranges, with multiranges,
-- instead of by several for each range: a hundred thousand ranges in one INSERT took over a minute.

-- Corrects the runs of one kind within two sets of blocks: `cut` are those of ranges that are gone or have another
-- state by now, where only what other ranges still want is left; `added` are those of ranges that came.
CREATE FUNCTION packhouse.wanted_run_change(
  network smallint, of_kind smallint, of_state text, cut int8multirange, added int8multirange
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changed int8multirange := cut + added;
  low int8 := lower(changed);
  high int8 := upper(changed); -- exclusive: a run that begins here touches
  still int8multirange := '{}';
BEGIN
  IF NOT isempty(cut) THEN
    SELECT coalesce(range_agg(int8range(w.start_block, coalesce(w.end_block, 9007199254740991), '[]')), '{}') * cut
    INTO still
    FROM packhouse.wanted_range AS w
    WHERE w.network_id = network AND w.state = of_state AND (w.kinds >> of_kind) & 1 = 1
      AND int8range(w.start_block, coalesce(w.end_block, 9007199254740991), '[]') && range_merge(cut);
  END IF;
  WITH gone AS (
    DELETE FROM packhouse.wanted_run AS r
    WHERE r.network_id = network AND r.kind = of_kind AND r.state = of_state
      AND r.start_block <= high
      AND r.start_block >= coalesce((
        SELECT max(b.start_block) FROM packhouse.wanted_run AS b
        WHERE b.network_id = network AND b.kind = of_kind AND b.state = of_state AND b.start_block < low
      ), low)
      AND int8range(r.start_block - 1, r.end_block + 1, '[]') && changed
    RETURNING r.start_block, r.end_block
  )
  INSERT INTO packhouse.wanted_run (network_id, kind, state, start_block, end_block)
  SELECT network, of_kind, of_state, lower(run), upper(run) - 1
  FROM (
    SELECT coalesce(range_agg(int8range(start_block, end_block, '[]')), '{}') - cut + still + added AS runs FROM gone
  ) AS g, unnest(g.runs) AS run;
END
$$;

CREATE OR REPLACE FUNCTION packhouse.wanted_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM packhouse.wanted_changed(array(SELECT DISTINCT network_id FROM inserted));
  PERFORM packhouse.wanted_run_change(network_id, k.kind::smallint, state, '{}', ranges)
  FROM (
    SELECT network_id, kinds, state,
      range_agg(int8range(start_block, coalesce(end_block, 9007199254740991), '[]')) AS ranges
    FROM inserted GROUP BY network_id, kinds, state
  ) AS g JOIN generate_series(0, 15) AS k (kind) ON (kinds >> k.kind) & 1 = 1;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION packhouse.wanted_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- EXCEPT, for a join of the two tables may be planned as a loop in a loop.
  PERFORM packhouse.wanted_changed(array(
    SELECT DISTINCT network_id FROM (
      SELECT id, network_id, kinds, state, start_block, end_block, priority FROM before
      EXCEPT SELECT id, network_id, kinds, state, start_block, end_block, priority FROM after
    ) AS changed
  ));
  PERFORM packhouse.wanted_run_change(network_id, k.kind::smallint, state, cut, added)
  FROM (
    SELECT network_id, kinds, state,
      coalesce(range_agg(blocks) FILTER (WHERE gone), '{}') AS cut,
      coalesce(range_agg(blocks) FILTER (WHERE NOT gone), '{}') AS added
    FROM (
      SELECT network_id, kinds, state, true AS gone,
        int8range(start_block, coalesce(end_block, 9007199254740991), '[]') AS blocks
      FROM (
        SELECT id, network_id, kinds, state, start_block, end_block FROM before
        EXCEPT SELECT id, network_id, kinds, state, start_block, end_block FROM after
      ) AS o
      UNION ALL
      SELECT network_id, kinds, state, false,
        int8range(start_block, coalesce(end_block, 9007199254740991), '[]')
      FROM (
        SELECT id, network_id, kinds, state, start_block, end_block FROM after
        EXCEPT SELECT id, network_id, kinds, state, start_block, end_block FROM before
      ) AS n
    ) AS changed
    GROUP BY network_id, kinds, state
  ) AS g JOIN generate_series(0, 15) AS k (kind) ON (kinds >> k.kind) & 1 = 1;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION packhouse.wanted_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM packhouse.wanted_changed(array(SELECT DISTINCT network_id FROM deleted));
  PERFORM packhouse.wanted_run_change(network_id, k.kind::smallint, state, ranges, '{}')
  FROM (
    SELECT network_id, kinds, state,
      range_agg(int8range(start_block, coalesce(end_block, 9007199254740991), '[]')) AS ranges
    FROM deleted GROUP BY network_id, kinds, state
  ) AS g JOIN generate_series(0, 15) AS k (kind) ON (kinds >> k.kind) & 1 = 1;
  RETURN NULL;
END
$$;

DROP FUNCTION packhouse.wanted_run_add(smallint, smallint, text, int8, int8);
DROP FUNCTION packhouse.wanted_run_cut(smallint, smallint, text, int8, int8);
DROP FUNCTION packhouse.wanted_run_rebuild(smallint);
