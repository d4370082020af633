-- Work that repeats. These rows are authoritative; the job schedulers of the queue are made from them, again if lost.
CREATE TABLE packhouse.schedule (
  name text PRIMARY KEY,
  owner text NOT NULL DEFAULT 'default',
  cron text, -- five fields; with zone
  zone text, -- IANA name
  every_ms int8 CHECK (every_ms > 0), -- instead of cron
  missed text NOT NULL DEFAULT 'once' CHECK (missed IN ('once', 'skip')), -- what becomes of times without a packer
  command text[] NOT NULL, -- arguments of packhouse
  setting text, -- the setting that it comes from; null: an operator added it
  paused bool NOT NULL DEFAULT false,
  since timestamptz NOT NULL DEFAULT clock_timestamp(), -- times before are not its own
  looked_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- when a packer last looked for missed times
  asked_for timestamptz, -- the time of a run that is to begin at once
  CHECK ((cron IS NULL) = (zone IS NULL) AND (cron IS NULL) <> (every_ms IS NULL))
);

-- Runs by the time they were due at, which has at most one. Kept a year, also those of a schedule that was removed.
CREATE TABLE packhouse.schedule_run (
  schedule text NOT NULL,
  due timestamptz NOT NULL,
  started_at timestamptz, -- null: skipped or missed
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- written every few seconds while it runs
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('done', 'failed', 'skipped', 'missed')),
  exit_code int4,
  said text, -- the last line of its output, or why it did not run
  PRIMARY KEY (schedule, due),
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
-- One run of a schedule at a time.
CREATE UNIQUE INDEX schedule_run_running ON packhouse.schedule_run (schedule) WHERE ended_at IS NULL;
CREATE INDEX schedule_run_seen ON packhouse.schedule_run (seen_at);
