-- The processes that take jobs. Each writes its row every few seconds; one that was not seen for a while has ended.
CREATE TABLE packhouse.worker (
  id uuid PRIMARY KEY,
  role text NOT NULL, -- ingester or packer
  host text NOT NULL,
  pid int4 NOT NULL,
  networks text[] NOT NULL, -- ids that it takes jobs of
  slots int4 NOT NULL, -- jobs that it runs at a time
  doing jsonb NOT NULL, -- the jobs that it runs: [{"job", "seconds"}]
  draining bool NOT NULL DEFAULT false, -- set by an operator: it takes no further job
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
