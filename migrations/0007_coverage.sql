-- What is published of one kind, a row a run of blocks: a page of coverage reads as many rows as it shows, however
-- many runs there are. (One multirange of 300,000 runs takes 100 ms for each intersection.) `published.ranges` says
-- the same and stays for programs that read it.
CREATE TABLE packhouse.published_run (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  start_block int8 NOT NULL,
  end_block int8 NOT NULL,
  PRIMARY KEY (network_id, kind, start_block)
) WITH (fillfactor = 50);

-- These fire after bundle_inserted and bundle_deleted (triggers go by name), whose row lock lets one publisher of a
-- kind commit at a time.
CREATE FUNCTION packhouse.bundle_runs_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added record;
  after_end int8;
BEGIN
  FOR added IN
    SELECT g.network_id, g.kind, lower(run) AS start_block, upper(run) - 1 AS end_block
    FROM (
      SELECT network_id, kind, range_agg(int8range(start_block, end_block, '[]')) AS ranges
      FROM inserted
      GROUP BY network_id, kind
    ) AS g, unnest(g.ranges) AS run
  LOOP
    DELETE FROM packhouse.published_run AS r
    WHERE r.network_id = added.network_id AND r.kind = added.kind AND r.start_block = added.end_block + 1
    RETURNING r.end_block INTO after_end;
    after_end := coalesce(after_end, added.end_block);
    UPDATE packhouse.published_run AS r SET end_block = after_end
    WHERE r.network_id = added.network_id AND r.kind = added.kind AND r.end_block = added.start_block - 1
      AND r.start_block = (
        SELECT max(before.start_block) FROM packhouse.published_run AS before
        WHERE before.network_id = added.network_id AND before.kind = added.kind
          AND before.start_block < added.start_block
      );
    IF NOT FOUND THEN
      INSERT INTO packhouse.published_run (network_id, kind, start_block, end_block)
      VALUES (added.network_id, added.kind, added.start_block, after_end);
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.bundle_runs_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  gone record;
  run record;
BEGIN
  FOR gone IN SELECT network_id, kind, start_block, end_block FROM deleted LOOP
    DELETE FROM packhouse.published_run AS r
    WHERE r.network_id = gone.network_id AND r.kind = gone.kind AND r.end_block >= gone.end_block
      AND r.start_block = (
        SELECT max(before.start_block) FROM packhouse.published_run AS before
        WHERE before.network_id = gone.network_id AND before.kind = gone.kind
          AND before.start_block <= gone.start_block
      )
    RETURNING r.start_block, r.end_block INTO run;
    CONTINUE WHEN NOT FOUND;
    IF run.start_block < gone.start_block THEN
      INSERT INTO packhouse.published_run (network_id, kind, start_block, end_block)
      VALUES (gone.network_id, gone.kind, run.start_block, gone.start_block - 1);
    END IF;
    IF run.end_block > gone.end_block THEN
      INSERT INTO packhouse.published_run (network_id, kind, start_block, end_block)
      VALUES (gone.network_id, gone.kind, gone.end_block + 1, run.end_block);
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

CREATE FUNCTION packhouse.bundle_runs_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM packhouse.published_run;
  RETURN NULL;
END
$$;

CREATE TRIGGER bundle_runs_inserted AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_inserted();
CREATE TRIGGER bundle_runs_deleted AFTER DELETE ON packhouse.bundle
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_deleted();
CREATE TRIGGER bundle_runs_truncated AFTER TRUNCATE ON packhouse.bundle
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_truncated();

-- After the triggers: making them waits until nobody else is publishing.
INSERT INTO packhouse.published_run (network_id, kind, start_block, end_block)
SELECT network_id, kind, lower(run), upper(run) - 1
FROM packhouse.published, unnest(ranges) AS run;
