-- Who a range is fetched for, and on what terms.
ALTER TABLE packhouse.wanted_range
  ADD COLUMN owner text NOT NULL DEFAULT 'default' CHECK (owner ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  ADD COLUMN weight int2 NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
  ADD COLUMN windows text[] NOT NULL DEFAULT '{}', -- when it is fetched; none: always
  ADD COLUMN deadline timestamptz,
  ADD COLUMN max_requests int8 CHECK (max_requests > 0);

-- What operators changed, kept for a year.
CREATE TABLE packhouse.change (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  who text NOT NULL,
  subject text NOT NULL, -- backfill 7
  action text NOT NULL, -- add, set, pause
  before jsonb, -- null: it did not exist
  after jsonb -- null: it is gone
);
CREATE INDEX change_subject ON packhouse.change (subject, id);
CREATE INDEX change_at ON packhouse.change (at);

CREATE OR REPLACE FUNCTION packhouse.wanted_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- EXCEPT, for a join of the two tables may be planned as a loop in a loop.
  PERFORM packhouse.wanted_changed(array(
    SELECT DISTINCT network_id FROM (
      SELECT id, network_id, kinds, state, start_block, end_block, priority, owner, weight, windows, deadline,
        max_requests FROM before
      EXCEPT SELECT id, network_id, kinds, state, start_block, end_block, priority, owner, weight, windows, deadline,
        max_requests FROM after
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
