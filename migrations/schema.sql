-- What the migrations leave behind. Written by `npm run schema -w packages/database`; a test compares it.

-- tables

CREATE TABLE packhouse.abandoned_block (
  network_id smallint NOT NULL,
  block bigint NOT NULL,
  hash bytea NOT NULL,
  abandoned_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT abandoned_block_pkey PRIMARY KEY (network_id, block, hash)
);

CREATE TABLE packhouse.alarm (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  network_id smallint NOT NULL,
  name text NOT NULL,
  message text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}'::jsonb,
  raised_at timestamp with time zone NOT NULL DEFAULT now(),
  cleared_at timestamp with time zone,
  cleared_by text,
  CONSTRAINT alarm_pkey PRIMARY KEY (id),
  CONSTRAINT alarm_cleared_by_check CHECK ((cleared_by = ANY (ARRAY['operator'::text, 'itself'::text]))),
  CONSTRAINT alarm_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

CREATE TABLE packhouse.api_key (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  application_id bigint NOT NULL,
  plan text NOT NULL,
  network text,
  prefix text NOT NULL,
  sha256 bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  origins text[] NOT NULL DEFAULT '{}'::text[],
  addresses text[] NOT NULL DEFAULT '{}'::text[],
  methods text[] NOT NULL DEFAULT '{}'::text[],
  CONSTRAINT api_key_pkey PRIMARY KEY (id),
  CONSTRAINT api_key_prefix_key UNIQUE (prefix),
  CONSTRAINT api_key_sha256_key UNIQUE (sha256),
  CONSTRAINT api_key_application_id_fkey FOREIGN KEY (application_id) REFERENCES packhouse.application(id),
  CONSTRAINT api_key_plan_fkey FOREIGN KEY (plan) REFERENCES packhouse.plan(name)
);

CREATE TABLE packhouse.application (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT application_pkey PRIMARY KEY (id),
  CONSTRAINT application_name_key UNIQUE (name)
);

CREATE TABLE packhouse.audit (
  network_id smallint NOT NULL,
  finished_at timestamp with time zone NOT NULL,
  bundles bigint NOT NULL,
  bytes_read bigint NOT NULL,
  findings bigint NOT NULL,
  CONSTRAINT audit_pkey PRIMARY KEY (network_id),
  CONSTRAINT audit_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
) WITH (fillfactor=50);

CREATE TABLE packhouse.back_pressure (
  network_id smallint NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  staged_bytes bigint NOT NULL,
  limit_bytes bigint NOT NULL,
  CONSTRAINT back_pressure_pkey PRIMARY KEY (network_id),
  CONSTRAINT back_pressure_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

CREATE TABLE packhouse.budget (
  provider text NOT NULL,
  unit text NOT NULL,
  per_second double precision,
  per_day bigint,
  per_month bigint,
  weights jsonb NOT NULL DEFAULT '{}'::jsonb,
  reserve double precision NOT NULL,
  price_per_million double precision,
  currency text,
  CONSTRAINT budget_pkey PRIMARY KEY (provider),
  CONSTRAINT budget_unit_check CHECK ((unit = ANY (ARRAY['requests'::text, 'units'::text])))
);

CREATE TABLE packhouse.budget_state (
  key text NOT NULL,
  state jsonb NOT NULL,
  CONSTRAINT budget_state_pkey PRIMARY KEY (key)
) WITH (fillfactor=50);

CREATE TABLE packhouse.budget_wait (
  network text NOT NULL,
  provider text NOT NULL,
  period text NOT NULL,
  until timestamp with time zone NOT NULL,
  CONSTRAINT budget_wait_pkey PRIMARY KEY (network)
) WITH (fillfactor=50);

CREATE TABLE packhouse.bundle (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  start_block bigint NOT NULL,
  end_block bigint NOT NULL,
  byte_length bigint NOT NULL,
  raw_length bigint NOT NULL,
  proofs integer NOT NULL,
  format_version smallint NOT NULL,
  published_at timestamp with time zone NOT NULL DEFAULT now(),
  sha256 bytea NOT NULL,
  first_hash bytea NOT NULL,
  first_parent_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  object_key text NOT NULL,
  fragments bytea NOT NULL,
  version smallint NOT NULL DEFAULT 1,
  not_proved text NOT NULL DEFAULT ''::text,
  CONSTRAINT bundle_pkey PRIMARY KEY (network_id, kind, start_block) INCLUDE (end_block),
  CONSTRAINT bundle_overlap EXCLUDE USING gist (int8range((((((network_id)::bigint * 8) + kind) << 48) + start_block), (((((network_id)::bigint * 8) + kind) << 48) + end_block), '[]'::text) WITH &&),
  CONSTRAINT bundle_check CHECK (((end_block >= start_block) AND (end_block < '281474976710656'::bigint))),
  CONSTRAINT bundle_kind_check CHECK (((kind >= 0) AND (kind <= 7))),
  CONSTRAINT bundle_start_block_check CHECK ((start_block >= 0))
);

CREATE TABLE packhouse.bundle_filter (
  start_block bigint NOT NULL,
  byte_length integer NOT NULL,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  version smallint NOT NULL,
  bundle_sha256 bytea NOT NULL,
  sha256 bytea NOT NULL,
  CONSTRAINT bundle_filter_pkey PRIMARY KEY (network_id, kind, start_block, version)
);

CREATE TABLE packhouse.change (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  who text NOT NULL,
  subject text NOT NULL,
  action text NOT NULL,
  before jsonb,
  after jsonb,
  CONSTRAINT change_pkey PRIMARY KEY (id)
);

CREATE TABLE packhouse.compatibility (
  migration text NOT NULL,
  minimum integer NOT NULL,
  CONSTRAINT compatibility_pkey PRIMARY KEY (migration),
  CONSTRAINT compatibility_minimum_check CHECK ((minimum > 0))
);

CREATE TABLE packhouse.fragment (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  block bigint NOT NULL,
  end_block bigint NOT NULL,
  raw_length integer NOT NULL,
  crc32 bigint NOT NULL,
  body bytea STORAGE EXTERNAL NOT NULL,
  items bytea STORAGE EXTERNAL,
  CONSTRAINT fragment_pkey PRIMARY KEY (network_id, kind, block)
) PARTITION BY RANGE (network_id, block);

CREATE TABLE packhouse.head (
  network_id smallint NOT NULL,
  block bigint NOT NULL,
  hash bytea NOT NULL,
  finalized bigint NOT NULL,
  observed_at timestamp with time zone NOT NULL,
  anchor_block bigint,
  anchor_hash bytea,
  CONSTRAINT head_pkey PRIMARY KEY (network_id),
  CONSTRAINT head_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
) WITH (fillfactor=50);

CREATE TABLE packhouse.key_usage (
  key_id bigint NOT NULL,
  day integer NOT NULL,
  requests bigint NOT NULL,
  CONSTRAINT key_usage_pkey PRIMARY KEY (key_id, day)
) WITH (fillfactor=50);

CREATE TABLE packhouse.manifest (
  start_block bigint NOT NULL,
  end_block bigint NOT NULL,
  byte_length bigint NOT NULL,
  raw_length bigint NOT NULL,
  published_at timestamp with time zone NOT NULL,
  sequence integer NOT NULL,
  proofs integer NOT NULL,
  origin_id integer NOT NULL,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  version smallint NOT NULL,
  key_id smallint NOT NULL,
  sha256 bytea NOT NULL,
  first_hash bytea NOT NULL,
  first_parent_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  hash bytea NOT NULL,
  signature bytea NOT NULL,
  supersedes bytea NOT NULL DEFAULT '\x'::bytea,
  not_proved text NOT NULL DEFAULT ''::text,
  filter_sha256 bytea NOT NULL DEFAULT '\x'::bytea,
  filter_bytes integer NOT NULL DEFAULT 0,
  CONSTRAINT manifest_pkey PRIMARY KEY (network_id, kind, sequence)
);

CREATE TABLE packhouse.manifest_origin (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  producer text NOT NULL,
  clients text[] NOT NULL,
  CONSTRAINT manifest_origin_pkey PRIMARY KEY (id),
  CONSTRAINT manifest_origin_producer_clients_key UNIQUE (producer, clients)
);

CREATE TABLE packhouse.manifest_pending (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  start_block bigint NOT NULL,
  version smallint NOT NULL,
  CONSTRAINT manifest_pending_pkey PRIMARY KEY (network_id, kind, start_block, version)
);

CREATE TABLE packhouse.method_usage (
  key_id bigint NOT NULL,
  day integer NOT NULL,
  network text NOT NULL,
  method text NOT NULL,
  requests bigint NOT NULL,
  units bigint NOT NULL,
  errors bigint NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT method_usage_pkey PRIMARY KEY (key_id, day, network, method)
) WITH (fillfactor=50);

CREATE TABLE packhouse.migration (
  id integer NOT NULL DEFAULT nextval('packhouse.migration_id_seq'::regclass),
  name character varying(255) NOT NULL,
  run_on timestamp without time zone NOT NULL,
  CONSTRAINT migration_pkey PRIMARY KEY (id)
);

CREATE TABLE packhouse.network (
  id smallint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  chain_id bigint NOT NULL,
  registered_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT network_pkey PRIMARY KEY (id),
  CONSTRAINT network_name_key UNIQUE (name)
);

CREATE TABLE packhouse.nft_job (
  id bytea NOT NULL,
  network text NOT NULL,
  target text NOT NULL,
  contract text,
  owner text,
  token_id text,
  status text NOT NULL DEFAULT 'queued'::text,
  found boolean NOT NULL,
  complete boolean NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  takeovers integer NOT NULL DEFAULT 0,
  lease bytea,
  due_at timestamp with time zone NOT NULL DEFAULT now(),
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  finished_at timestamp with time zone,
  CONSTRAINT nft_job_pkey PRIMARY KEY (id),
  CONSTRAINT nft_job_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text])))
) WITH (fillfactor=70);

CREATE TABLE packhouse.nft_job_asker (
  job_id bytea NOT NULL,
  application text NOT NULL,
  CONSTRAINT nft_job_asker_pkey PRIMARY KEY (job_id, application),
  CONSTRAINT nft_job_asker_job_id_fkey FOREIGN KEY (job_id) REFERENCES packhouse.nft_job(id) ON DELETE CASCADE
);

CREATE TABLE packhouse.nft_job_token (
  job_id bytea NOT NULL,
  position integer NOT NULL,
  contract text NOT NULL,
  token_id text NOT NULL,
  outcome text,
  asked_at timestamp with time zone,
  refreshed boolean NOT NULL DEFAULT false,
  CONSTRAINT nft_job_token_pkey PRIMARY KEY (job_id, "position"),
  CONSTRAINT nft_job_token_job_id_fkey FOREIGN KEY (job_id) REFERENCES packhouse.nft_job(id) ON DELETE CASCADE
) WITH (fillfactor=70);

CREATE TABLE packhouse.nft_token (
  network text NOT NULL,
  contract text NOT NULL,
  token_id text NOT NULL,
  asked_at timestamp with time zone NOT NULL,
  asked_by bytea,
  outcome text,
  standard text,
  uri text,
  metadata text,
  indexed_at timestamp with time zone,
  CONSTRAINT nft_token_pkey PRIMARY KEY (network, contract, token_id),
  CONSTRAINT nft_token_asked_by_fkey FOREIGN KEY (asked_by) REFERENCES packhouse.nft_job(id) ON DELETE SET NULL
) WITH (fillfactor=70);

CREATE TABLE packhouse.node_client (
  id smallint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  CONSTRAINT node_client_pkey PRIMARY KEY (id),
  CONSTRAINT node_client_name_key UNIQUE (name)
);

CREATE TABLE packhouse.node_cordon (
  network text NOT NULL,
  upstream text NOT NULL,
  who text NOT NULL,
  why text NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT node_cordon_pkey PRIMARY KEY (network, upstream)
);

CREATE TABLE packhouse.node_report (
  process uuid NOT NULL,
  network text NOT NULL,
  upstream text NOT NULL,
  provider text NOT NULL,
  role text NOT NULL,
  host text NOT NULL,
  report jsonb NOT NULL,
  seen_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT node_report_pkey PRIMARY KEY (process, network, upstream)
);

CREATE TABLE packhouse.operator (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  password text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT operator_pkey PRIMARY KEY (id),
  CONSTRAINT operator_name_key UNIQUE (name),
  CONSTRAINT operator_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT operator_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text])))
);

CREATE TABLE packhouse.operator_secret (
  sha256 bytea NOT NULL,
  kind text NOT NULL,
  operator_id integer,
  key_id bigint,
  role text NOT NULL,
  label text NOT NULL DEFAULT ''::text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT operator_secret_pkey PRIMARY KEY (sha256),
  CONSTRAINT operator_secret_check CHECK (((operator_id IS NULL) <> (key_id IS NULL))),
  CONSTRAINT operator_secret_check1 CHECK (((role = 'owner'::text) = (key_id IS NOT NULL))),
  CONSTRAINT operator_secret_kind_check CHECK ((kind = ANY (ARRAY['link'::text, 'session'::text, 'token'::text]))),
  CONSTRAINT operator_secret_label_check CHECK ((length(label) <= 200)),
  CONSTRAINT operator_secret_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'viewer'::text, 'operator'::text, 'admin'::text]))),
  CONSTRAINT operator_secret_sha256_check CHECK ((octet_length(sha256) = 32)),
  CONSTRAINT operator_secret_key_id_fkey FOREIGN KEY (key_id) REFERENCES packhouse.api_key(id) ON DELETE CASCADE,
  CONSTRAINT operator_secret_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES packhouse.operator(id) ON DELETE CASCADE
);

CREATE TABLE packhouse.owner_usage (
  day integer NOT NULL,
  owner text NOT NULL,
  requests bigint NOT NULL,
  units bigint NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT owner_usage_pkey PRIMARY KEY (day, owner)
) WITH (fillfactor=50);

CREATE TABLE packhouse.pending_transaction (
  network text NOT NULL,
  sequence bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  hash bytea NOT NULL,
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT pending_transaction_pkey PRIMARY KEY (network, sequence),
  CONSTRAINT pending_transaction_network_hash_key UNIQUE (network, hash)
);

CREATE TABLE packhouse.plan (
  name text NOT NULL,
  position smallint NOT NULL,
  max_block bigint,
  requests_per_second integer NOT NULL,
  requests_per_day bigint,
  requests_per_month bigint,
  methods_per_second jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT plan_pkey PRIMARY KEY (name),
  CONSTRAINT plan_position_key UNIQUE ("position")
);

CREATE TABLE packhouse.published (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  ranges int8multirange NOT NULL,
  bundles bigint NOT NULL,
  blocks bigint NOT NULL,
  bytes bigint NOT NULL,
  newest_at timestamp with time zone NOT NULL,
  superseded bigint NOT NULL DEFAULT 0,
  CONSTRAINT published_pkey PRIMARY KEY (network_id, kind)
) WITH (fillfactor=50);

CREATE TABLE packhouse.published_chunk (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  chunk bigint NOT NULL,
  blocks bigint NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT published_chunk_pkey PRIMARY KEY (network_id, kind, chunk)
);

CREATE TABLE packhouse.published_run (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  start_block bigint NOT NULL,
  end_block bigint NOT NULL,
  CONSTRAINT published_run_pkey PRIMARY KEY (network_id, kind, start_block)
) WITH (fillfactor=50);

CREATE TABLE packhouse.quarantine (
  network_id smallint NOT NULL,
  block bigint NOT NULL,
  kinds integer NOT NULL,
  cause text NOT NULL,
  message text NOT NULL,
  upstream text,
  payload_digest bytea,
  attempts integer NOT NULL,
  first_seen timestamp with time zone NOT NULL,
  next_try timestamp with time zone NOT NULL,
  blocks bigint NOT NULL DEFAULT 1,
  tried jsonb NOT NULL DEFAULT '[]'::jsonb,
  CONSTRAINT quarantine_pkey PRIMARY KEY (network_id, block),
  CONSTRAINT quarantine_blocks_check CHECK ((blocks > 0)),
  CONSTRAINT quarantine_kinds_check CHECK ((kinds > 0)),
  CONSTRAINT quarantine_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

CREATE TABLE packhouse.range_usage (
  range_id bigint NOT NULL,
  day integer NOT NULL,
  requests bigint NOT NULL,
  units bigint NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT range_usage_pkey PRIMARY KEY (range_id)
) WITH (fillfactor=50);

CREATE TABLE packhouse.rpc_filter (
  id bytea NOT NULL,
  network text NOT NULL,
  key_id bigint NOT NULL,
  state text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT rpc_filter_pkey PRIMARY KEY (id)
) WITH (fillfactor=60);

CREATE TABLE packhouse.schedule (
  name text NOT NULL,
  owner text NOT NULL DEFAULT 'default'::text,
  cron text,
  zone text,
  every_ms bigint,
  missed text NOT NULL DEFAULT 'once'::text,
  command text[] NOT NULL,
  setting text,
  paused boolean NOT NULL DEFAULT false,
  since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  looked_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  asked_for timestamp with time zone,
  CONSTRAINT schedule_pkey PRIMARY KEY (name),
  CONSTRAINT schedule_check CHECK ((((cron IS NULL) = (zone IS NULL)) AND ((cron IS NULL) <> (every_ms IS NULL)))),
  CONSTRAINT schedule_every_ms_check CHECK ((every_ms > 0)),
  CONSTRAINT schedule_missed_check CHECK ((missed = ANY (ARRAY['once'::text, 'skip'::text])))
);

CREATE TABLE packhouse.schedule_run (
  schedule text NOT NULL,
  due timestamp with time zone NOT NULL,
  started_at timestamp with time zone,
  seen_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamp with time zone,
  outcome text,
  exit_code integer,
  said text,
  CONSTRAINT schedule_run_pkey PRIMARY KEY (schedule, due),
  CONSTRAINT schedule_run_check CHECK (((ended_at IS NULL) = (outcome IS NULL))),
  CONSTRAINT schedule_run_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'failed'::text, 'skipped'::text, 'missed'::text])))
);

CREATE TABLE packhouse.sign_in_failure (
  subject text NOT NULL,
  failures integer NOT NULL,
  last_at timestamp with time zone NOT NULL,
  CONSTRAINT sign_in_failure_pkey PRIMARY KEY (subject),
  CONSTRAINT sign_in_failure_subject_check CHECK ((length(subject) <= 300))
);

CREATE TABLE packhouse.signing_key (
  id smallint GENERATED ALWAYS AS IDENTITY NOT NULL,
  key_id text NOT NULL,
  public_key bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  retired_at timestamp with time zone,
  CONSTRAINT signing_key_pkey PRIMARY KEY (id),
  CONSTRAINT signing_key_key_id_key UNIQUE (key_id),
  CONSTRAINT signing_key_public_key_key UNIQUE (public_key),
  CONSTRAINT signing_key_public_key_check CHECK ((octet_length(public_key) = 32))
);

CREATE TABLE packhouse.staged_block (
  network_id smallint NOT NULL,
  block bigint NOT NULL,
  hash bytea NOT NULL,
  parent_hash bytea NOT NULL,
  timestamp bigint NOT NULL,
  transaction_count integer NOT NULL,
  proofs integer NOT NULL,
  client smallint,
  not_proved text NOT NULL DEFAULT ''::text,
  CONSTRAINT staged_block_pkey PRIMARY KEY (network_id, block)
) PARTITION BY RANGE (network_id, block);

CREATE TABLE packhouse.superseded_bundle (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  start_block bigint NOT NULL,
  end_block bigint NOT NULL,
  version smallint NOT NULL,
  byte_length bigint NOT NULL,
  raw_length bigint NOT NULL,
  proofs integer NOT NULL,
  format_version smallint NOT NULL,
  published_at timestamp with time zone NOT NULL,
  sha256 bytea NOT NULL,
  first_hash bytea NOT NULL,
  first_parent_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  object_key text NOT NULL,
  fragments bytea NOT NULL,
  superseded_at timestamp with time zone NOT NULL DEFAULT now(),
  reason text NOT NULL,
  not_proved text NOT NULL DEFAULT ''::text,
  CONSTRAINT superseded_bundle_pkey PRIMARY KEY (network_id, kind, start_block, version)
);

CREATE TABLE packhouse.told_tip (
  network text NOT NULL,
  tag text NOT NULL,
  block bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT told_tip_pkey PRIMARY KEY (network, tag)
) WITH (fillfactor=50);

CREATE TABLE packhouse.upstream_usage (
  day integer NOT NULL,
  network text NOT NULL,
  upstream text NOT NULL,
  provider text NOT NULL,
  method text NOT NULL,
  requests bigint NOT NULL,
  units bigint NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT upstream_usage_pkey PRIMARY KEY (day, provider, network, upstream, method)
) WITH (fillfactor=50);

CREATE TABLE packhouse.wanted_range (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  network_id smallint NOT NULL,
  kinds integer NOT NULL,
  start_block bigint NOT NULL,
  end_block bigint,
  priority smallint NOT NULL,
  state text NOT NULL DEFAULT 'active'::text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  done boolean NOT NULL DEFAULT false,
  owner text NOT NULL DEFAULT 'default'::text,
  weight smallint NOT NULL DEFAULT 1,
  windows text[] NOT NULL DEFAULT '{}'::text[],
  deadline timestamp with time zone,
  max_requests bigint,
  CONSTRAINT wanted_range_pkey PRIMARY KEY (id),
  CONSTRAINT wanted_range_check CHECK ((end_block >= start_block)),
  CONSTRAINT wanted_range_kinds_check CHECK ((kinds > 0)),
  CONSTRAINT wanted_range_max_requests_check CHECK ((max_requests > 0)),
  CONSTRAINT wanted_range_owner_check CHECK ((owner ~ '^[a-z0-9][a-z0-9._-]{0,63}$'::text)),
  CONSTRAINT wanted_range_priority_check CHECK (((priority >= 1) AND (priority <= 1000))),
  CONSTRAINT wanted_range_start_block_check CHECK ((start_block >= 0)),
  CONSTRAINT wanted_range_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'cancelled'::text]))),
  CONSTRAINT wanted_range_weight_check CHECK (((weight >= 1) AND (weight <= 1000))),
  CONSTRAINT wanted_range_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

CREATE TABLE packhouse.wanted_run (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  state text NOT NULL,
  start_block bigint NOT NULL,
  end_block bigint NOT NULL,
  CONSTRAINT wanted_run_pkey PRIMARY KEY (network_id, kind, state, start_block)
);

CREATE TABLE packhouse.wanted_version (
  network_id smallint NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT wanted_version_pkey PRIMARY KEY (network_id)
) WITH (fillfactor=50);

CREATE TABLE packhouse.worker (
  id uuid NOT NULL,
  role text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  networks text[] NOT NULL,
  slots integer NOT NULL,
  doing jsonb NOT NULL,
  draining boolean NOT NULL DEFAULT false,
  started_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  networks_digest text NOT NULL DEFAULT ''::text,
  networks_problem text,
  CONSTRAINT worker_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);

-- indexes

CREATE INDEX abandoned_block_age ON packhouse.abandoned_block USING btree (abandoned_at);

CREATE INDEX alarm_network ON packhouse.alarm USING btree (network_id, name, raised_at);

CREATE UNIQUE INDEX alarm_open ON packhouse.alarm USING btree (network_id, name) WHERE (cleared_at IS NULL);

CREATE INDEX bundle_not_proved ON packhouse.bundle USING btree (network_id, kind, start_block) INCLUDE (end_block, not_proved) WHERE (not_proved <> ''::text);

CREATE INDEX bundle_reasons ON packhouse.bundle USING btree (network_id, not_proved) WHERE (not_proved <> ''::text);

CREATE INDEX change_at ON packhouse.change USING btree (at);

CREATE INDEX change_subject ON packhouse.change USING btree (subject, id);

CREATE INDEX manifest_range ON packhouse.manifest USING btree (network_id, kind, start_block) INCLUDE (sequence);

CREATE INDEX method_usage_day ON packhouse.method_usage USING btree (day);

CREATE INDEX nft_job_due ON packhouse.nft_job USING btree (due_at) WHERE (status <> 'done'::text);

CREATE INDEX nft_job_finished ON packhouse.nft_job USING btree (finished_at) WHERE (status = 'done'::text);

CREATE UNIQUE INDEX nft_job_target ON packhouse.nft_job USING btree (network, target) WHERE (status <> 'done'::text);

CREATE INDEX nft_job_asker_application ON packhouse.nft_job_asker USING btree (application);

CREATE INDEX nft_token_asking ON packhouse.nft_token USING btree (asked_by) WHERE (asked_by IS NOT NULL);

CREATE INDEX operator_secret_key ON packhouse.operator_secret USING btree (key_id);

CREATE INDEX operator_secret_operator ON packhouse.operator_secret USING btree (operator_id);

CREATE INDEX pending_transaction_age ON packhouse.pending_transaction USING btree (seen_at);

CREATE INDEX published_chunk_version ON packhouse.published_chunk USING btree (network_id, kind, version);

CREATE INDEX quarantine_due ON packhouse.quarantine USING btree (network_id, next_try);

CREATE INDEX quarantine_range ON packhouse.quarantine USING gist (int8range(block, (block + blocks)));

CREATE INDEX rpc_filter_expiry ON packhouse.rpc_filter USING btree (expires_at);

CREATE INDEX rpc_filter_key ON packhouse.rpc_filter USING btree (key_id);

CREATE UNIQUE INDEX schedule_run_running ON packhouse.schedule_run USING btree (schedule) WHERE (ended_at IS NULL);

CREATE INDEX schedule_run_seen ON packhouse.schedule_run USING btree (seen_at);

CREATE UNIQUE INDEX signing_key_current ON packhouse.signing_key USING btree (((retired_at IS NULL))) WHERE (retired_at IS NULL);

CREATE INDEX wanted_range_blocks ON packhouse.wanted_range USING gist (int8range(start_block, COALESCE(end_block, '9007199254740991'::bigint), '[]'::text));

CREATE INDEX wanted_range_last ON packhouse.wanted_range USING btree (network_id, end_block) WHERE (state <> 'cancelled'::text);

CREATE INDEX wanted_range_network ON packhouse.wanted_range USING btree (network_id);

CREATE INDEX wanted_range_open ON packhouse.wanted_range USING btree (network_id, id) WHERE ((state = 'active'::text) AND (NOT done));

-- functions

CREATE OR REPLACE FUNCTION packhouse.bundle_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_is_immutable()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'a published bundle never changes' USING ERRCODE = 'restrict_violation';
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_runs_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_runs_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_runs_truncated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM packhouse.published_run;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_truncated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM packhouse.published;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_unsealed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF current_setting('packhouse.sealed', true) IS DISTINCT FROM 'yes' THEN
    INSERT INTO packhouse.manifest_pending (network_id, kind, start_block, version)
    SELECT network_id, kind, start_block, version FROM inserted
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.manifest_is_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'an entry of the manifest never changes' USING ERRCODE = 'restrict_violation';
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.published_chunk_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.published_chunk_truncated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE packhouse.published_chunk AS c SET blocks = 0, version = last.version + 1
  FROM (
    SELECT network_id, kind, max(version) AS version FROM packhouse.published_chunk GROUP BY network_id, kind
  ) AS last
  WHERE c.network_id = last.network_id AND c.kind = last.kind;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.wanted_changed(networks smallint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO packhouse.wanted_version (network_id, version)
  SELECT DISTINCT network_id, 1 FROM unnest(networks) AS network_id ORDER BY network_id
  ON CONFLICT (network_id) DO UPDATE SET version = wanted_version.version + 1
$function$;

CREATE OR REPLACE FUNCTION packhouse.wanted_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.wanted_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.wanted_reopened()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.wanted_run_change(network smallint, of_kind smallint, of_state text, cut int8multirange, added int8multirange)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.wanted_truncated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM packhouse.wanted_changed(array(SELECT network_id FROM packhouse.wanted_version));
  DELETE FROM packhouse.wanted_run;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.wanted_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- triggers

CREATE TRIGGER bundle_deleted AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_deleted();

CREATE TRIGGER bundle_inserted AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_inserted();

CREATE TRIGGER bundle_is_immutable BEFORE UPDATE ON packhouse.bundle FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_is_immutable();

CREATE TRIGGER bundle_runs_deleted AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_deleted();

CREATE TRIGGER bundle_runs_inserted AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_inserted();

CREATE TRIGGER bundle_runs_truncated AFTER TRUNCATE ON packhouse.bundle FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_truncated();

CREATE TRIGGER bundle_truncated AFTER TRUNCATE ON packhouse.bundle FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_truncated();

CREATE TRIGGER bundle_unsealed AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_unsealed();

CREATE TRIGGER published_chunk_deleted AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_changed();

CREATE TRIGGER published_chunk_inserted AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_changed();

CREATE TRIGGER published_chunk_truncated AFTER TRUNCATE ON packhouse.bundle FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_truncated();

CREATE TRIGGER wanted_reopened AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_reopened();

CREATE TRIGGER manifest_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON packhouse.manifest FOR EACH STATEMENT EXECUTE FUNCTION packhouse.manifest_is_append_only();

CREATE TRIGGER wanted_deleted AFTER DELETE ON packhouse.wanted_range REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_deleted();

CREATE TRIGGER wanted_inserted AFTER INSERT ON packhouse.wanted_range REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_inserted();

CREATE TRIGGER wanted_truncated AFTER TRUNCATE ON packhouse.wanted_range FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_truncated();

CREATE TRIGGER wanted_updated AFTER UPDATE ON packhouse.wanted_range REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION packhouse.wanted_updated();
