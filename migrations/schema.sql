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

CREATE TABLE packhouse.back_pressure (
  network_id smallint NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  staged_bytes bigint NOT NULL,
  limit_bytes bigint NOT NULL,
  CONSTRAINT back_pressure_pkey PRIMARY KEY (network_id),
  CONSTRAINT back_pressure_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

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
  CONSTRAINT bundle_pkey PRIMARY KEY (network_id, kind, start_block) INCLUDE (end_block),
  CONSTRAINT bundle_overlap EXCLUDE USING gist (int8range((((((network_id)::bigint * 8) + kind) << 48) + start_block), (((((network_id)::bigint * 8) + kind) << 48) + end_block), '[]'::text) WITH &&),
  CONSTRAINT bundle_check CHECK (((end_block >= start_block) AND (end_block < '281474976710656'::bigint))),
  CONSTRAINT bundle_kind_check CHECK (((kind >= 0) AND (kind <= 7))),
  CONSTRAINT bundle_start_block_check CHECK ((start_block >= 0))
);

CREATE TABLE packhouse.fragment (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  block bigint NOT NULL,
  end_block bigint NOT NULL,
  raw_length integer NOT NULL,
  crc32 bigint NOT NULL,
  body bytea STORAGE EXTERNAL NOT NULL,
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

CREATE TABLE packhouse.plan (
  name text NOT NULL,
  position smallint NOT NULL,
  max_block bigint,
  requests_per_second integer NOT NULL,
  requests_per_day bigint,
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
  CONSTRAINT published_pkey PRIMARY KEY (network_id, kind)
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

CREATE TABLE packhouse.staged_block (
  network_id smallint NOT NULL,
  block bigint NOT NULL,
  hash bytea NOT NULL,
  parent_hash bytea NOT NULL,
  timestamp bigint NOT NULL,
  transaction_count integer NOT NULL,
  proofs integer NOT NULL,
  CONSTRAINT staged_block_pkey PRIMARY KEY (network_id, block)
) PARTITION BY RANGE (network_id, block);

CREATE TABLE packhouse.wanted_range (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  network_id smallint NOT NULL,
  kinds integer NOT NULL,
  start_block bigint NOT NULL,
  end_block bigint,
  priority smallint NOT NULL,
  state text NOT NULL DEFAULT 'active'::text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT wanted_range_pkey PRIMARY KEY (id),
  CONSTRAINT wanted_range_check CHECK ((end_block >= start_block)),
  CONSTRAINT wanted_range_kinds_check CHECK ((kinds > 0)),
  CONSTRAINT wanted_range_priority_check CHECK (((priority >= 1) AND (priority <= 1000))),
  CONSTRAINT wanted_range_start_block_check CHECK ((start_block >= 0)),
  CONSTRAINT wanted_range_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'cancelled'::text]))),
  CONSTRAINT wanted_range_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

-- indexes

CREATE INDEX abandoned_block_age ON packhouse.abandoned_block USING btree (abandoned_at);

CREATE INDEX alarm_network ON packhouse.alarm USING btree (network_id, name, raised_at);

CREATE UNIQUE INDEX alarm_open ON packhouse.alarm USING btree (network_id, name) WHERE (cleared_at IS NULL);

CREATE INDEX quarantine_due ON packhouse.quarantine USING btree (network_id, next_try);

CREATE INDEX quarantine_range ON packhouse.quarantine USING gist (int8range(block, (block + blocks)));

CREATE INDEX wanted_range_network ON packhouse.wanted_range USING btree (network_id);

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

CREATE OR REPLACE FUNCTION packhouse.bundle_truncated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM packhouse.published;
  RETURN NULL;
END
$function$;

-- triggers

CREATE TRIGGER bundle_deleted AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_deleted();

CREATE TRIGGER bundle_inserted AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_inserted();

CREATE TRIGGER bundle_is_immutable BEFORE UPDATE ON packhouse.bundle FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_is_immutable();

CREATE TRIGGER bundle_truncated AFTER TRUNCATE ON packhouse.bundle FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_truncated();
