-- What the migrations leave behind. Written by `npm run schema -w packages/database`; a test compares it.

-- tables

-- Blocks that a reorganisation removed, kept for 400 days: a cursor of a feed that is as old is told what to undo.
CREATE TABLE packhouse.abandoned_block (
  network_id smallint NOT NULL,
  block bigint NOT NULL,
  hash bytea NOT NULL,
  abandoned_at timestamp with time zone NOT NULL DEFAULT now(),
  parent_hash bytea NOT NULL,
  CONSTRAINT abandoned_block_pkey PRIMARY KEY (network_id, block, hash)
);

-- The highest block numbers that gateways returned, so that no gateway answers below another. Valid for half a minute after a gateway last saw a node with the block.
CREATE UNLOGGED TABLE packhouse.advertised_tip (
  -- As the gateway names it, with its chain id.
  network text NOT NULL,
  -- latest, safe or finalized.
  tag text NOT NULL,
  block bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT advertised_tip_pkey PRIMARY KEY (network, tag)
) WITH (fillfactor=50);

-- Conditions that an operator must know, by name. Cleared alarms are kept as history.
CREATE TABLE packhouse.alarm (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  network_id smallint NOT NULL,
  name text NOT NULL,
  message text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}'::jsonb,
  raised_at timestamp with time zone NOT NULL DEFAULT now(),
  -- null: open
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
  -- By name, as a key may exist before its network is registered; null: all
  network text,
  -- The part that may be shown.
  prefix text NOT NULL,
  sha256 bytea NOT NULL,
  -- Of the secret before, which works too until old_until
  old_sha256 bytea,
  old_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  -- Browser origins that may use it: https://app.example.com, *.example.com; empty: all
  origins text[] NOT NULL DEFAULT '{}'::text[],
  -- Client addresses that may use it, in CIDR notation; empty: all
  addresses text[] NOT NULL DEFAULT '{}'::text[],
  -- JSON-RPC methods, bundle-api, download, nft, usage; empty: all
  methods text[] NOT NULL DEFAULT '{}'::text[],
  -- Contracts that calls may read, in lower case; empty: all
  contracts text[] NOT NULL DEFAULT '{}'::text[],
  -- Most blocks of one eth_getLogs, if that is less than its plan allows.
  max_log_range bigint,
  -- Until when gateways write its requests to key_request; null: they do not
  logged_until timestamp with time zone,
  -- Until when they write parameters of calls too; null: they do not
  params_until timestamp with time zone,
  CONSTRAINT api_key_pkey PRIMARY KEY (id),
  CONSTRAINT api_key_old_sha256_key UNIQUE (old_sha256),
  CONSTRAINT api_key_prefix_key UNIQUE (prefix),
  CONSTRAINT api_key_sha256_key UNIQUE (sha256),
  CONSTRAINT api_key_check CHECK (((old_sha256 IS NULL) = (old_until IS NULL))),
  CONSTRAINT api_key_application_id_fkey FOREIGN KEY (application_id) REFERENCES packhouse.application(id),
  CONSTRAINT api_key_plan_fkey FOREIGN KEY (plan) REFERENCES packhouse.plan(name)
);

-- What API keys belong to. Its name is unique, as spending and NFT jobs are kept by it, and does not change.
CREATE TABLE packhouse.application (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  -- The account that manages it; null: operators alone
  owner_id integer,
  description text NOT NULL DEFAULT ''::text,
  -- Whom operators ask: an address, a channel, a team
  contact text NOT NULL DEFAULT ''::text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  -- Since when it has no keys that work, and gets none
  archived_at timestamp with time zone,
  CONSTRAINT application_pkey PRIMARY KEY (id),
  CONSTRAINT application_name_key UNIQUE (name),
  CONSTRAINT application_contact_check CHECK ((length(contact) <= 200)),
  CONSTRAINT application_description_check CHECK ((length(description) <= 1000)),
  CONSTRAINT application_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES packhouse.operator(id) ON DELETE SET NULL
);

-- Result of the last scheduled audit of each network, by which packers decide when the next one is due.
CREATE TABLE packhouse.audit (
  network_id smallint NOT NULL,
  finished_at timestamp with time zone NOT NULL,
  bundles bigint NOT NULL,
  bytes_read bigint NOT NULL,
  findings bigint NOT NULL,
  CONSTRAINT audit_pkey PRIMARY KEY (network_id),
  CONSTRAINT audit_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
) WITH (fillfactor=50);

-- Networks for which no new block is fetched because the staging area is full.
CREATE TABLE packhouse.back_pressure (
  network_id smallint NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  staged_bytes bigint NOT NULL,
  limit_bytes bigint NOT NULL,
  CONSTRAINT back_pressure_pkey PRIMARY KEY (network_id),
  CONSTRAINT back_pressure_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

-- Block ranges that operators requested.
CREATE TABLE packhouse.backfill (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  first_block bigint NOT NULL,
  -- null: follows the head
  last_block bigint,
  network_id smallint NOT NULL,
  kinds integer NOT NULL,
  -- 1 is first.
  priority smallint NOT NULL,
  state text NOT NULL DEFAULT 'active'::text,
  -- All of it is published, so it is not planned. Deleting one of its bundles sets it back.
  done boolean NOT NULL DEFAULT false,
  owner text NOT NULL DEFAULT 'default'::text,
  -- Share among backfills of the same priority.
  weight smallint NOT NULL DEFAULT 1,
  -- When it is fetched, such as "Mon-Fri 20:00-06:00 Europe/Berlin"; empty: always
  windows text[] NOT NULL DEFAULT '{}'::text[],
  deadline timestamp with time zone,
  max_requests bigint,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  -- When it was last found to be done, also if it is not any more; null: never
  done_at timestamp with time zone,
  -- When it was paused or cancelled; null: it is active
  stopped_at timestamp with time zone,
  stopped_by text,
  -- Why it was paused or cancelled, if the operator said so.
  stopped_reason text,
  CONSTRAINT backfill_pkey PRIMARY KEY (id),
  CONSTRAINT backfill_check CHECK ((last_block >= first_block)),
  CONSTRAINT backfill_check1 CHECK (((stopped_at IS NULL) = (stopped_by IS NULL))),
  CONSTRAINT backfill_first_block_check CHECK ((first_block >= 0)),
  CONSTRAINT backfill_kinds_check CHECK ((kinds > 0)),
  CONSTRAINT backfill_max_requests_check CHECK ((max_requests > 0)),
  CONSTRAINT backfill_owner_check CHECK ((owner ~ '^[a-z0-9][a-z0-9._-]{0,63}$'::text)),
  CONSTRAINT backfill_priority_check CHECK (((priority >= 1) AND (priority <= 1000))),
  CONSTRAINT backfill_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'cancelled'::text]))),
  CONSTRAINT backfill_stopped_reason_check CHECK ((length(stopped_reason) <= 500)),
  CONSTRAINT backfill_weight_check CHECK (((weight >= 1) AND (weight <= 1000))),
  CONSTRAINT backfill_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

-- Requests sent for a backfill, over all days.
CREATE TABLE packhouse.backfill_usage (
  backfill_id bigint NOT NULL,
  -- Of the last request.
  day integer NOT NULL,
  requests bigint NOT NULL,
  units bigint NOT NULL,
  bytes bigint NOT NULL,
  -- Requests taken from a limit before they are sent; 0: it has none
  allowed bigint NOT NULL DEFAULT 0,
  CONSTRAINT backfill_usage_pkey PRIMARY KEY (backfill_id)
) WITH (fillfactor=50);

-- Limits of requests to a provider, over all machines, per second, UTC day and UTC month. null: no limit
CREATE TABLE packhouse.budget (
  -- As upstreams of the networks file name it.
  provider text NOT NULL,
  unit text NOT NULL,
  per_second double precision,
  per_day bigint,
  per_month bigint,
  -- Units per request: {"eth_getLogs": 75, "other": 20}; default 1
  weights jsonb NOT NULL DEFAULT '{}'::jsonb,
  -- Share that backfills leave to live traffic, 0 to 0.9.
  reserve double precision NOT NULL,
  price_per_million double precision,
  currency text,
  CONSTRAINT budget_pkey PRIMARY KEY (provider),
  CONSTRAINT budget_unit_check CHECK ((unit = ANY (ARRAY['requests'::text, 'units'::text])))
);

-- What was spent of each limit, if there is no Redis; see packages/node-rpc/src/spending.
CREATE TABLE packhouse.budget_state (
  key text NOT NULL,
  state jsonb NOT NULL,
  CONSTRAINT budget_state_pkey PRIMARY KEY (key)
) WITH (fillfactor=50);

-- Networks whose backfills wait until a budget's next day or month.
CREATE TABLE packhouse.budget_wait (
  network text NOT NULL,
  provider text NOT NULL,
  period text NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  until timestamp with time zone NOT NULL,
  CONSTRAINT budget_wait_pkey PRIMARY KEY (network)
) WITH (fillfactor=50);

-- The range index: one row per published bundle. The block of a kind is in the last bundle that starts at or before it.
CREATE TABLE packhouse.bundle (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
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
  -- Lengths and checksums of the fragments, encoded by packages/bundle.
  fragments bytea NOT NULL,
  -- A repaired bundle is published for the same range with the next version; the row before moves to superseded_bundle.
  version smallint NOT NULL DEFAULT 1,
  -- As in staged_block, each reason once.
  not_proved text NOT NULL DEFAULT ''::text,
  CONSTRAINT bundle_pkey PRIMARY KEY (network_id, kind, first_block) INCLUDE (last_block),
  -- Overlap is impossible, whichever program publishes. Network and kind are the upper 15 bits of each bound, which makes one range of three columns; btree_gist would need the right to create an extension.
  CONSTRAINT bundle_overlap EXCLUDE USING gist (int8range((((((network_id)::bigint * 8) + kind) << 48) + first_block), (((((network_id)::bigint * 8) + kind) << 48) + last_block), '[]'::text) WITH &&),
  CONSTRAINT bundle_check CHECK (((last_block >= first_block) AND (last_block < '281474976710656'::bigint))),
  CONSTRAINT bundle_first_block_check CHECK ((first_block >= 0)),
  CONSTRAINT bundle_kind_check CHECK (((kind >= 0) AND (kind <= 7)))
);

-- Filters stored beside bundles: the addresses and topics that a file may contain.
CREATE TABLE packhouse.bundle_filter (
  first_block bigint NOT NULL,
  byte_length integer NOT NULL,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  version smallint NOT NULL,
  -- The file that it was made of: another file needs another filter.
  bundle_sha256 bytea NOT NULL,
  sha256 bytea NOT NULL,
  CONSTRAINT bundle_filter_pkey PRIMARY KEY (network_id, kind, first_block, version)
);

-- Changes by operators, kept for a year.
CREATE TABLE packhouse.change (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL,
  -- Kind and name: backfill 7
  subject text NOT NULL,
  -- add, set, pause, …
  action text NOT NULL,
  -- null: it did not exist
  before jsonb,
  -- null: it was removed
  after jsonb,
  CONSTRAINT change_pkey PRIMARY KEY (id)
);

-- Migrations that programs without them cannot run beside. Each inserts its row in its own transaction; all others only add.
CREATE TABLE packhouse.compatibility (
  migration text NOT NULL,
  -- Lowest schema version of a program that may still run: the number of the newest migration that the program knows.
  minimum integer NOT NULL,
  CONSTRAINT compatibility_pkey PRIMARY KEY (migration),
  CONSTRAINT compatibility_minimum_check CHECK ((minimum > 0))
);

-- What notifications are about, a row per thing: alarms, missed deadlines, used budgets, keys that expire, failed schedules. Written by the packer that sends notifications.
CREATE TABLE packhouse.condition (
  key text NOT NULL,
  family text NOT NULL,
  name text NOT NULL,
  -- null: of the whole installation
  network text,
  severity text NOT NULL,
  message text NOT NULL,
  -- Its last row in alarm; null: no alarm
  alarm_id bigint,
  -- When it last began
  since timestamp with time zone NOT NULL,
  -- null: open
  ended_at timestamp with time zone,
  -- How often it began
  times bigint NOT NULL DEFAULT 1,
  CONSTRAINT condition_pkey PRIMARY KEY (key),
  CONSTRAINT condition_family_check CHECK ((family = ANY (ARRAY['alarm'::text, 'backfill'::text, 'budget'::text, 'key'::text, 'schedule'::text]))),
  CONSTRAINT condition_key_check CHECK ((length(key) <= 400)),
  CONSTRAINT condition_severity_check CHECK ((severity = ANY (ARRAY['warning'::text, 'critical'::text])))
) WITH (fillfactor=70);

-- Deflated records of staged blocks, which the packer splices into bundles. Partitioned as staged_block.
CREATE TABLE packhouse.fragment (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  raw_length integer NOT NULL,
  crc32 bigint NOT NULL,
  -- Stored as it is: compressing it again would only cost time.
  body bytea STORAGE EXTERNAL NOT NULL,
  -- Digests for the bundle's filter, 10 bytes each (Piece.items of packages/bundle), found when the fragment is made; null: a kind without a filter, or text that the scanner does not know, in which the packer looks itself
  items bytea STORAGE EXTERNAL,
  CONSTRAINT fragment_pkey PRIMARY KEY (network_id, kind, first_block)
) PARTITION BY RANGE (network_id, first_block);

-- The newest block of each network, as its nodes report it.
CREATE TABLE packhouse.head (
  network_id smallint NOT NULL,
  block bigint NOT NULL,
  hash bytea NOT NULL,
  -- Highest final block; -1: none.
  finalized bigint NOT NULL,
  observed_at timestamp with time zone NOT NULL,
  -- The highest final block whose hash was read. The chain must keep it: another hash there is a reorganisation below finality.
  anchor_block bigint,
  anchor_hash bytea,
  CONSTRAINT head_pkey PRIMARY KEY (network_id),
  CONSTRAINT head_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
) WITH (fillfactor=50);

-- The means of the hours of one day of a series, kept for a year.
CREATE TABLE packhouse.history_day (
  day integer NOT NULL,
  series integer NOT NULL,
  -- 0 to 23; figures has a row for each, in this order.
  hours smallint[] NOT NULL,
  figures real[] NOT NULL,
  CONSTRAINT history_day_pkey PRIMARY KEY (series, day)
) WITH (fillfactor=70);

-- The samples of one hour of a series, kept for seven days: a week of a curve is 168 rows that are read, not 10,080.
CREATE TABLE packhouse.history_hour (
  hour integer NOT NULL,
  series integer NOT NULL,
  -- Of the hour, 0 to 59, ascending.
  minutes smallint[] NOT NULL,
  -- Two dimensions: a row of figures for each of the minutes.
  figures real[] NOT NULL,
  CONSTRAINT history_hour_pkey PRIMARY KEY (series, hour)
);

-- Events that no other table keeps; the newest 20,000 of a year. Alarms, backfills, drains and cordons have their own tables.
CREATE TABLE packhouse.history_mark (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  kind text NOT NULL,
  -- null: of all
  network text,
  subject text NOT NULL,
  message text NOT NULL,
  CONSTRAINT history_mark_pkey PRIMARY KEY (id),
  CONSTRAINT history_mark_kind_check CHECK ((kind = ANY (ARRAY['deploy'::text, 'quarantine-begin'::text, 'quarantine-end'::text]))),
  CONSTRAINT history_mark_message_check CHECK ((length(message) <= 300)),
  CONSTRAINT history_mark_subject_check CHECK ((length(subject) <= 300))
);

-- Samples of the present hour. A minute was sampled if the series of the installation has it: then a network, key or provider without a row did nothing.
CREATE TABLE packhouse.history_minute (
  minute integer NOT NULL,
  series integer NOT NULL,
  figures real[] NOT NULL,
  CONSTRAINT history_minute_pkey PRIMARY KEY (minute, series)
);

-- The first figure of all networks, and of all nodes, in the minutes of the last two hours: the small curves of a list read a row a minute.
CREATE TABLE packhouse.history_recent (
  minute integer NOT NULL,
  subject text NOT NULL,
  series integer[] NOT NULL,
  figures real[] NOT NULL,
  CONSTRAINT history_recent_pkey PRIMARY KEY (subject, minute)
);

-- What has samples of its own, a bounded number per subject. All others of a subject are summed in the series without a name.
CREATE TABLE packhouse.history_series (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  subject text NOT NULL,
  name text NOT NULL,
  CONSTRAINT history_series_pkey PRIMARY KEY (id),
  CONSTRAINT history_series_subject_name_key UNIQUE (subject, name),
  CONSTRAINT history_series_name_check CHECK ((length(name) <= 300)),
  CONSTRAINT history_series_subject_check CHECK ((subject = ANY (ARRAY['installation'::text, 'network'::text, 'node'::text, 'provider'::text, 'key'::text])))
);

-- Webhooks: receivers of the feed of a network, each an ordered stream of deliveries.
CREATE TABLE packhouse.hook (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  network_id smallint NOT NULL,
  final_only boolean NOT NULL,
  state text NOT NULL DEFAULT 'active'::text,
  start_block bigint NOT NULL,
  -- The first and last delivered block that is not final yet; null: none
  told_first bigint,
  told_last bigint,
  delivered bigint NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- When to deliver next; null: when the network changes
  due_at timestamp with time zone DEFAULT clock_timestamp(),
  delivered_at timestamp with time zone,
  failing_since timestamp with time zone,
  -- An operator asks for a test; null: none is due
  test_asked_at timestamp with time zone,
  tested_at timestamp with time zone,
  old_salt_until timestamp with time zone,
  url text NOT NULL,
  kinds text[] NOT NULL,
  addresses text[] NOT NULL DEFAULT '{}'::text[],
  topics text[] NOT NULL DEFAULT '{}'::text[],
  -- The secret is the MAC of this by secret_seal; it is stored nowhere.
  salt bytea NOT NULL,
  -- Of the secret before, which signs too until old_salt_until
  old_salt bytea,
  -- Of the feed, behind the last delivery that was accepted; null: it has not begun
  cursor text,
  -- Block and reason of the last delivered step "waiting", which is delivered once
  waiting text,
  last_error text,
  test_outcome text,
  -- The delivery that was begun and not accepted yet: {id, body, steps, cursor, toldFirst, toldLast, waiting}. It is repeated byte for byte.
  pending jsonb,
  CONSTRAINT hook_pkey PRIMARY KEY (id),
  CONSTRAINT hook_check CHECK (((told_first IS NULL) = (told_last IS NULL))),
  CONSTRAINT hook_kinds_check CHECK ((cardinality(kinds) > 0)),
  CONSTRAINT hook_salt_check CHECK ((octet_length(salt) = 32)),
  CONSTRAINT hook_start_block_check CHECK ((start_block >= 0)),
  CONSTRAINT hook_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'quarantined'::text]))),
  CONSTRAINT hook_url_check CHECK ((length(url) <= 2000)),
  CONSTRAINT hook_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

-- Requests of keys whose log an operator or the holder turned on, without parameters unless an admin or an owner asks for them: the last 1,000 of a key, for a day. Unlogged: worthless after a crash.
CREATE UNLOGGED TABLE packhouse.key_request (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  key_id bigint NOT NULL,
  at timestamp with time zone NOT NULL,
  network text NOT NULL,
  -- Of a batch up to ten, separated by spaces; else a method or a route
  method text NOT NULL,
  calls integer NOT NULL,
  status smallint NOT NULL,
  -- ok, aborted, why it was refused, or JSON-RPC codes
  outcome text NOT NULL,
  ms double precision NOT NULL,
  units bigint NOT NULL,
  bytes bigint NOT NULL,
  -- Requests of the key before this one that its gateway left out, as there were too many
  left_out integer NOT NULL,
  -- Of the calls, cut and without secrets; null: nobody asked for them
  params text,
  CONSTRAINT key_request_pkey PRIMARY KEY (key_id, id),
  CONSTRAINT key_request_params_check CHECK ((length(params) <= 2000))
);

-- Units per key and day, from which quotas are read if gateways have no Redis. The other columns are sums of method_usage, from which the history is sampled: one row a key instead of one a method.
CREATE TABLE packhouse.key_usage (
  key_id bigint NOT NULL,
  day integer NOT NULL,
  -- In units.
  requests bigint NOT NULL,
  -- All requests but downloads.
  calls bigint NOT NULL DEFAULT 0,
  downloads bigint NOT NULL DEFAULT 0,
  errors bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  -- When a gateway last counted something
  last_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT key_usage_pkey PRIMARY KEY (key_id, day)
) WITH (fillfactor=50);

-- How operators have the tables of a network written; without a row always and as fast as possible.
CREATE TABLE packhouse.lake_control (
  network_id smallint NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  -- When files of history are written; empty: at any time
  windows text[] NOT NULL DEFAULT '{}'::text[],
  -- Of the time, for which history is written; after a file the writer rests.
  share real NOT NULL DEFAULT 1,
  CONSTRAINT lake_control_pkey PRIMARY KEY (network_id),
  CONSTRAINT lake_control_share_check CHECK (((share > (0)::double precision) AND (share <= (1)::double precision))),
  CONSTRAINT lake_control_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

-- The signed logs of the tables of the lake: a row per file that a snapshot adds or takes out. It stays if the table is begun anew.
CREATE TABLE packhouse.lake_entry (
  snapshot bigint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  row_count bigint NOT NULL,
  byte_length bigint NOT NULL,
  -- Whole milliseconds.
  published_at timestamp with time zone NOT NULL,
  -- 0, 1, 2, … per network and table, without a gap.
  sequence integer NOT NULL,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  key_id smallint NOT NULL,
  removes boolean NOT NULL,
  sha256 bytea NOT NULL,
  sources bytea NOT NULL,
  hash bytea NOT NULL,
  signature bytea NOT NULL,
  file text NOT NULL,
  CONSTRAINT lake_entry_pkey PRIMARY KEY (network_id, kind, sequence),
  CONSTRAINT lake_entry_key_id_fkey FOREIGN KEY (key_id) REFERENCES packhouse.signing_key(id)
);

-- Parquet files of the tables of the lake. A snapshot has those that were added by then and not removed.
CREATE TABLE packhouse.lake_file (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  row_count bigint NOT NULL,
  byte_length bigint NOT NULL,
  added_snapshot bigint NOT NULL,
  -- null: it is in the newest snapshot. Its object is deleted some time after removed_at.
  removed_snapshot bigint,
  removed_at timestamp with time zone,
  sha256 bytea NOT NULL,
  -- SHA-256 over the bundles that it was made of, and its columns
  sources bytea NOT NULL,
  object_key text NOT NULL,
  -- It is to be written again: it is damaged, or an operator says so.
  rebuild boolean NOT NULL DEFAULT false,
  -- By id of the field: {min, max, nulls}
  stats jsonb NOT NULL,
  CONSTRAINT lake_file_pkey PRIMARY KEY (network_id, kind, first_block, last_block, added_snapshot),
  CONSTRAINT lake_file_overlap EXCLUDE USING gist (int8range((((((network_id)::bigint * 8) + kind) << 48) + first_block), (((((network_id)::bigint * 8) + kind) << 48) + last_block), '[]'::text) WITH &&) WHERE ((removed_snapshot IS NULL)),
  CONSTRAINT lake_file_check CHECK (((last_block >= first_block) AND (last_block < '281474976710656'::bigint))),
  CONSTRAINT lake_file_check1 CHECK ((removed_snapshot > added_snapshot)),
  CONSTRAINT lake_file_check2 CHECK (((removed_at IS NULL) = (removed_snapshot IS NULL))),
  CONSTRAINT lake_file_first_block_check CHECK ((first_block >= 0)),
  CONSTRAINT lake_file_kind_check CHECK (((kind >= 0) AND (kind <= 7))),
  CONSTRAINT lake_file_sha256_check CHECK ((octet_length(sha256) = 32)),
  CONSTRAINT lake_file_sources_check CHECK ((octet_length(sources) = 32)),
  CONSTRAINT lake_file_network_id_kind_fkey FOREIGN KEY (network_id, kind) REFERENCES packhouse.lake_table(network_id, kind)
);

-- Tables of the lake: the bundles of a kind as columns. A row is the pointer to its newest snapshot, which one transaction moves together with the files.
CREATE TABLE packhouse.lake_table (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  -- Of the last change of files: 1, 2, 3, …
  snapshot bigint NOT NULL,
  -- Files of earlier snapshots may be deleted.
  oldest_snapshot bigint NOT NULL DEFAULT 1,
  made_at timestamp with time zone NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Columns: [{id, name, type, required}]. An id stays for ever.
  fields jsonb NOT NULL,
  -- By kind, the last entry of the manifest up to which everything is in the table: {sequence, hash}
  heads jsonb NOT NULL,
  CONSTRAINT lake_table_pkey PRIMARY KEY (network_id, kind),
  CONSTRAINT lake_table_kind_check CHECK (((kind >= 0) AND (kind <= 7))),
  CONSTRAINT lake_table_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
) WITH (fillfactor=50);

-- Work that one process at a time does. A lease is free once it has expired, or no session has the advisory lock of its holder.
CREATE TABLE packhouse.lease (
  name text NOT NULL,
  -- Of one connection of one process; null: given back
  holder uuid,
  -- Rises each time the lease is taken, so that a write of an earlier holder is refused.
  token bigint NOT NULL,
  -- Renewed every few seconds; of a lease given back, when that was.
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT lease_pkey PRIMARY KEY (name)
) WITH (fillfactor=50);

-- One row per entry, ten million and more: no column is null (no bitmap), wide columns come first (no padding), repeated texts are in other tables. The JSON line is made from the row; its stored hash shows that it is the same.
CREATE TABLE packhouse.manifest (
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  byte_length bigint NOT NULL,
  raw_length bigint NOT NULL,
  -- Whole milliseconds.
  published_at timestamp with time zone NOT NULL,
  -- 0, 1, 2, … per network and kind, without a gap.
  sequence integer NOT NULL,
  proofs integer NOT NULL,
  origin_id integer NOT NULL,
  filter_bytes integer NOT NULL DEFAULT 0,
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
  -- SHA-256 of the version before; empty: there is none
  supersedes bytea NOT NULL DEFAULT '\x'::bytea,
  not_proved text NOT NULL DEFAULT ''::text,
  -- Empty, with filter_bytes 0: no filter
  filter_sha256 bytea NOT NULL DEFAULT '\x'::bytea,
  CONSTRAINT manifest_pkey PRIMARY KEY (network_id, kind, sequence)
);

-- The program that made a bundle and the node clients that returned its blocks: the same few for millions of entries.
CREATE TABLE packhouse.manifest_origin (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  producer text NOT NULL,
  clients text[] NOT NULL,
  CONSTRAINT manifest_origin_pkey PRIMARY KEY (id),
  CONSTRAINT manifest_origin_producer_clients_key UNIQUE (producer, clients)
);

-- Bundles published without an entry, by a program without the signing key. The next packer appends their entries.
CREATE TABLE packhouse.manifest_pending (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block bigint NOT NULL,
  version smallint NOT NULL,
  CONSTRAINT manifest_pending_pkey PRIMARY KEY (network_id, kind, first_block, version)
);

-- The last entry of each log that is in the object store too. It goes back with the log if the database is set back.
CREATE TABLE packhouse.manifest_stored (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  sequence integer NOT NULL,
  CONSTRAINT manifest_stored_pkey PRIMARY KEY (network_id, kind)
);

CREATE TABLE packhouse.method_usage (
  key_id bigint NOT NULL,
  day integer NOT NULL,
  network text NOT NULL,
  -- A JSON-RPC method that the network offers, other, batch, or a route.
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

-- Networks that an ingester was started with.
CREATE TABLE packhouse.network (
  id smallint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  chain_id bigint NOT NULL,
  registered_at timestamp with time zone NOT NULL DEFAULT now(),
  -- When the last ingester that left was seen; those that run are rows of worker. null: none has left
  ingester_seen_at timestamp with time zone,
  CONSTRAINT network_pkey PRIMARY KEY (id),
  CONSTRAINT network_name_key UNIQUE (name)
);

-- Refreshes of token metadata. The state of a job is only here: if a gateway ends, another continues.
CREATE TABLE packhouse.nft_job (
  -- 16 random bytes.
  id bytea NOT NULL,
  network text NOT NULL,
  -- What is refreshed, as one name: one open job per target.
  target text NOT NULL,
  contract text,
  owner text,
  -- 0x hex without leading zeros.
  token_id text,
  status text NOT NULL DEFAULT 'queued'::text,
  -- Its tokens are known.
  found boolean NOT NULL,
  -- Its known tokens are all there are.
  complete boolean NOT NULL,
  -- How often it was postponed because no node answered.
  failures integer NOT NULL DEFAULT 0,
  -- How often its lease expired.
  takeovers integer NOT NULL DEFAULT 0,
  -- The gateway that runs it; one that lost its lease writes nothing more.
  lease bytea,
  -- When it may be started; while it runs, the end of its lease.
  due_at timestamp with time zone NOT NULL DEFAULT now(),
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  finished_at timestamp with time zone,
  CONSTRAINT nft_job_pkey PRIMARY KEY (id),
  CONSTRAINT nft_job_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text])))
) WITH (fillfactor=70);

-- Applications that requested a job and may read its state.
CREATE TABLE packhouse.nft_job_requester (
  job_id bytea NOT NULL,
  application text NOT NULL,
  CONSTRAINT nft_job_requester_pkey PRIMARY KEY (job_id, application),
  CONSTRAINT nft_job_requester_job_id_fkey FOREIGN KEY (job_id) REFERENCES packhouse.nft_job(id) ON DELETE CASCADE
);

CREATE TABLE packhouse.nft_job_token (
  job_id bytea NOT NULL,
  position integer NOT NULL,
  contract text NOT NULL,
  token_id text NOT NULL,
  -- null: not yet
  outcome text,
  asked_at timestamp with time zone,
  -- false: the outcome is that of another job shortly before.
  refreshed boolean NOT NULL DEFAULT false,
  CONSTRAINT nft_job_token_pkey PRIMARY KEY (job_id, "position"),
  CONSTRAINT nft_job_token_job_id_fkey FOREIGN KEY (job_id) REFERENCES packhouse.nft_job(id) ON DELETE CASCADE
) WITH (fillfactor=70);

CREATE TABLE packhouse.nft_token (
  network text NOT NULL,
  contract text NOT NULL,
  token_id text NOT NULL,
  -- By the gateway's clock.
  asked_at timestamp with time zone NOT NULL,
  -- The job that is fetching it now.
  asked_by bytea,
  -- Of the last fetch; null: none yet
  outcome text,
  -- erc721 or erc1155.
  standard text,
  -- As the contract returned it, {id} replaced; of a data: URI only the beginning.
  uri text,
  -- JSON as last fetched.
  metadata text,
  indexed_at timestamp with time zone,
  CONSTRAINT nft_token_pkey PRIMARY KEY (network, contract, token_id),
  CONSTRAINT nft_token_asked_by_fkey FOREIGN KEY (asked_by) REFERENCES packhouse.nft_job(id) ON DELETE SET NULL
) WITH (fillfactor=70);

-- Client versions of nodes (web3_clientVersion). They are few: staged blocks keep the id.
CREATE TABLE packhouse.node_client (
  id smallint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  CONSTRAINT node_client_pkey PRIMARY KEY (id),
  CONSTRAINT node_client_name_key UNIQUE (name)
);

-- Upstreams that operators cordoned: no process sends them requests.
CREATE TABLE packhouse.node_cordon (
  network text NOT NULL,
  upstream text NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT node_cordon_pkey PRIMARY KEY (network, upstream)
);

-- State of each upstream as each ingester and gateway sees it, written every few seconds. Unlogged: worthless after a crash.
CREATE UNLOGGED TABLE packhouse.node_report (
  process uuid NOT NULL,
  network text NOT NULL,
  upstream text NOT NULL,
  provider text NOT NULL,
  role text NOT NULL,
  host text NOT NULL,
  -- NodeReport of packages/database.
  report jsonb NOT NULL,
  seen_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT node_report_pkey PRIMARY KEY (process, network, upstream)
);

-- Where notifications are sent.
CREATE TABLE packhouse.notification_channel (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  kind text NOT NULL,
  state text NOT NULL DEFAULT 'active'::text,
  -- Of the address, which may be shown; of an e-mail empty
  host text NOT NULL,
  -- Encrypted by a key that is derived from secret_seal.
  address bytea,
  recipients text[] NOT NULL DEFAULT '{}'::text[],
  -- The secret that signs messages to a webhook is the MAC of this by secret_seal; it is stored nowhere.
  salt bytea NOT NULL,
  networks text[] NOT NULL DEFAULT '{}'::text[],
  names text[] NOT NULL DEFAULT '{}'::text[],
  -- The lowest that is sent.
  severity text NOT NULL,
  -- Hours in which only what is critical is sent, such as "22:00-07:00 Europe/Berlin"
  quiet text[] NOT NULL DEFAULT '{}'::text[],
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- What ended before is not sent.
  active_since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- When the next message may be sent.
  due_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  delivered bigint NOT NULL DEFAULT 0,
  delivered_at timestamp with time zone,
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamp with time zone,
  last_error text,
  test_asked_at timestamp with time zone,
  tested_at timestamp with time zone,
  test_outcome text,
  -- Of the secret before, which signs too until old_salt_until
  old_salt bytea,
  old_salt_until timestamp with time zone,
  -- The message that was begun and not accepted yet: {id, body, urgent, told}. It is repeated byte for byte.
  pending jsonb,
  CONSTRAINT notification_channel_pkey PRIMARY KEY (id),
  CONSTRAINT notification_channel_check CHECK ((((kind = 'email'::text) = (address IS NULL)) AND ((kind = 'email'::text) = (cardinality(recipients) > 0)))),
  CONSTRAINT notification_channel_kind_check CHECK ((kind = ANY (ARRAY['webhook'::text, 'slack'::text, 'email'::text]))),
  CONSTRAINT notification_channel_salt_check CHECK ((octet_length(salt) = 32)),
  CONSTRAINT notification_channel_severity_check CHECK ((severity = ANY (ARRAY['warning'::text, 'critical'::text]))),
  CONSTRAINT notification_channel_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text])))
);

-- What a channel accepted of each condition.
CREATE TABLE packhouse.notification_told (
  channel_id bigint NOT NULL,
  key text NOT NULL,
  -- Of the condition, when it was sent
  times bigint NOT NULL,
  -- Whether its end was sent
  ended boolean NOT NULL,
  -- When a beginning was last sent
  begun_at timestamp with time zone NOT NULL,
  CONSTRAINT notification_told_pkey PRIMARY KEY (channel_id, key),
  CONSTRAINT notification_told_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES packhouse.notification_channel(id) ON DELETE CASCADE,
  CONSTRAINT notification_told_key_fkey FOREIGN KEY (key) REFERENCES packhouse.condition(key) ON DELETE CASCADE
) WITH (fillfactor=70);

-- States of OIDC that a provider has returned: each works once.
CREATE TABLE packhouse.oidc_state (
  sha256 bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT oidc_state_pkey PRIMARY KEY (sha256),
  CONSTRAINT oidc_state_sha256_check CHECK ((octet_length(sha256) = 32))
);

-- Accounts of the console and the admin API.
CREATE TABLE packhouse.operator (
  id integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  name text NOT NULL,
  -- owner: sees and manages the applications that it owns, and nothing else
  role text NOT NULL,
  -- Argon2id in PHC format; null: no password
  password text,
  -- Issuer and subject of an OIDC provider, whose claims decide on the role at each sign-in; null: none
  subject text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT operator_pkey PRIMARY KEY (id),
  CONSTRAINT operator_name_key UNIQUE (name),
  CONSTRAINT operator_subject_key UNIQUE (subject),
  CONSTRAINT operator_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT operator_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'viewer'::text, 'operator'::text, 'admin'::text]))),
  CONSTRAINT operator_subject_check CHECK ((length(subject) <= 2000))
);

-- One-time links, browser sessions and API tokens, of an operator or of an API key's holder, who sees the usage of that key only. Only the SHA-256 of a secret is kept.
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
  CONSTRAINT operator_secret_check1 CHECK (((role = 'owner'::text) OR (key_id IS NULL))),
  CONSTRAINT operator_secret_kind_check CHECK ((kind = ANY (ARRAY['link'::text, 'session'::text, 'token'::text]))),
  CONSTRAINT operator_secret_label_check CHECK ((length(label) <= 200)),
  CONSTRAINT operator_secret_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'viewer'::text, 'operator'::text, 'admin'::text]))),
  CONSTRAINT operator_secret_sha256_check CHECK ((octet_length(sha256) = 32)),
  CONSTRAINT operator_secret_key_id_fkey FOREIGN KEY (key_id) REFERENCES packhouse.api_key(id) ON DELETE CASCADE,
  CONSTRAINT operator_secret_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES packhouse.operator(id) ON DELETE CASCADE
);

CREATE TABLE packhouse.owner_usage (
  day integer NOT NULL,
  -- Of the backfill, or the application of the key; -: neither
  owner text NOT NULL,
  requests bigint NOT NULL,
  units bigint NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT owner_usage_pkey PRIMARY KEY (day, owner)
) WITH (fillfactor=50);

-- Hashes of transactions that wait to be mined, in the order they were seen. One gateway per network writes them.
CREATE UNLOGGED TABLE packhouse.pending_transaction (
  network text NOT NULL,
  sequence bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  hash bytea NOT NULL,
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT pending_transaction_pkey PRIMARY KEY (network, sequence),
  CONSTRAINT pending_transaction_network_hash_key UNIQUE (network, hash)
);

-- Limits of keys. null: no limit
CREATE TABLE packhouse.plan (
  name text NOT NULL,
  -- The order in lists.
  position smallint NOT NULL,
  -- Highest block that bundles and downloads may touch.
  max_block bigint,
  requests_per_second integer NOT NULL,
  -- In units, per UTC day; requests_per_month per UTC month.
  requests_per_day bigint,
  requests_per_month bigint,
  -- Calls per second of single methods: {"eth_getLogs": 5}
  methods_per_second jsonb NOT NULL DEFAULT '{}'::jsonb,
  -- Most blocks of one eth_getLogs.
  max_log_range bigint,
  CONSTRAINT plan_pkey PRIMARY KEY (name),
  CONSTRAINT plan_position_key UNIQUE ("position")
);

-- Totals per kind, so that no total reads the bundles. Maintained by triggers in the transaction that publishes; its row lock lets one publisher of a kind commit at a time.
CREATE TABLE packhouse.published (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  bundles bigint NOT NULL,
  blocks bigint NOT NULL,
  bytes bigint NOT NULL,
  newest_at timestamp with time zone NOT NULL,
  -- How often a bundle of this kind was superseded; a change invalidates index rows that a program remembers.
  superseded bigint NOT NULL DEFAULT 0,
  CONSTRAINT published_pkey PRIMARY KEY (network_id, kind)
) WITH (fillfactor=50);

-- Published blocks per 16,384: counts of long ranges add chunks instead of reading every run, and programs that remember what is published read only changed chunks again.
CREATE TABLE packhouse.published_chunk (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  -- First block divided by 16,384.
  chunk bigint NOT NULL,
  blocks bigint NOT NULL,
  -- Higher than any that the kind had before.
  version bigint NOT NULL,
  CONSTRAINT published_chunk_pkey PRIMARY KEY (network_id, kind, chunk)
);

-- Blocks that were published for the first time in the last day, per chunk and ten minutes: the rate of a backfill reads no bundles. Maintained by triggers in the transaction that publishes.
CREATE TABLE packhouse.published_pace (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  -- First block divided by 16,384, as in published_chunk.
  chunk bigint NOT NULL,
  -- Seconds since 1970-01-01 divided by 600.
  slot integer NOT NULL,
  blocks bigint NOT NULL,
  CONSTRAINT published_pace_pkey PRIMARY KEY (network_id, kind, chunk, slot)
) WITH (fillfactor=50);

-- Published blocks, one row per run: a page of coverage reads as many rows as it shows, and a publish changes two at most.
CREATE TABLE packhouse.published_run (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  CONSTRAINT published_run_pkey PRIMARY KEY (network_id, kind, first_block)
) WITH (fillfactor=50);

-- Blocks that fail a check or that no node returns. Consecutive blocks that fail alike are one row: a range that no node has is one fact.
CREATE TABLE packhouse.quarantine (
  network_id smallint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
  kinds integer NOT NULL,
  cause text NOT NULL,
  message text NOT NULL,
  upstream text,
  payload_digest bytea,
  attempts integer NOT NULL,
  first_seen timestamp with time zone NOT NULL,
  next_try timestamp with time zone NOT NULL,
  -- What each upstream did, in the order they were asked: [{"upstream", "cause", "message", "payloadDigest"}]
  tried jsonb NOT NULL DEFAULT '[]'::jsonb,
  CONSTRAINT quarantine_pkey PRIMARY KEY (network_id, first_block),
  CONSTRAINT quarantine_check CHECK ((last_block >= first_block)),
  CONSTRAINT quarantine_kinds_check CHECK ((kinds > 0)),
  CONSTRAINT quarantine_network_id_fkey FOREIGN KEY (network_id) REFERENCES packhouse.network(id)
);

-- Requested blocks by kind and state: backfills that touch are one run, so reading costs the runs read, not the backfills. Maintained by triggers on backfill.
CREATE TABLE packhouse.requested_run (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  state text NOT NULL,
  first_block bigint NOT NULL,
  -- 9007199254740991: no end
  last_block bigint NOT NULL,
  CONSTRAINT requested_run_pkey PRIMARY KEY (network_id, kind, state, first_block)
);

-- Rises with each change of a network's backfills, so that programs read them again only then. Its row lock serialises transactions that change a network's runs.
CREATE TABLE packhouse.requested_version (
  network_id smallint NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT requested_version_pkey PRIMARY KEY (network_id)
) WITH (fillfactor=50);

-- Filters of eth_newFilter and similar methods. Unlogged: they last minutes and change with every poll, and clients create them again if Postgres crashed.
CREATE UNLOGGED TABLE packhouse.rpc_filter (
  -- 16 random bytes.
  id bytea NOT NULL,
  network text NOT NULL,
  -- 0: an open network
  key_id bigint NOT NULL,
  -- JSON of the gateway.
  state text NOT NULL,
  -- Changes with every write, so that one of two concurrent polls fails.
  version integer NOT NULL DEFAULT 1,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT rpc_filter_pkey PRIMARY KEY (id)
) WITH (fillfactor=60);

-- Recurring commands. These rows are authoritative: the job schedulers of the queue are made from them.
CREATE TABLE packhouse.schedule (
  name text NOT NULL,
  owner text NOT NULL DEFAULT 'default'::text,
  -- Five fields; needs zone.
  cron text,
  -- IANA name.
  zone text,
  -- Instead of cron.
  every_ms bigint,
  -- Whether a run that was due while no packer ran is made up for once.
  missed text NOT NULL DEFAULT 'once'::text,
  -- Arguments of packhouse.
  command text[] NOT NULL,
  -- The setting that it comes from; null: an operator added it
  setting text,
  paused boolean NOT NULL DEFAULT false,
  -- Due times before do not count.
  since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- When a packer last checked for missed runs.
  checked_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  -- Due time of a run that starts at once.
  requested_at timestamp with time zone,
  CONSTRAINT schedule_pkey PRIMARY KEY (name),
  CONSTRAINT schedule_check CHECK ((((cron IS NULL) = (zone IS NULL)) AND ((cron IS NULL) <> (every_ms IS NULL)))),
  CONSTRAINT schedule_every_ms_check CHECK ((every_ms > 0)),
  CONSTRAINT schedule_missed_check CHECK ((missed = ANY (ARRAY['once'::text, 'skip'::text])))
);

-- Runs by due time, at most one each. Kept for a year, also those of removed schedules.
CREATE TABLE packhouse.schedule_run (
  schedule text NOT NULL,
  due timestamp with time zone NOT NULL,
  -- null: skipped or missed
  started_at timestamp with time zone,
  -- Heartbeat, written every few seconds while it runs.
  seen_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamp with time zone,
  outcome text,
  exit_code integer,
  -- Last line of its output, or why it did not run.
  message text,
  CONSTRAINT schedule_run_pkey PRIMARY KEY (schedule, due),
  CONSTRAINT schedule_run_check CHECK (((ended_at IS NULL) = (outcome IS NULL))),
  CONSTRAINT schedule_run_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'failed'::text, 'skipped'::text, 'missed'::text])))
);

-- One row: the key of the MAC in each secret, by which forged ones are refused without a query. Deleting it ends all sessions, links and tokens.
CREATE TABLE packhouse.secret_seal (
  id boolean NOT NULL DEFAULT true,
  seal bytea NOT NULL,
  CONSTRAINT secret_seal_pkey PRIMARY KEY (id),
  CONSTRAINT secret_seal_id_check CHECK (id),
  CONSTRAINT secret_seal_seal_check CHECK ((octet_length(seal) = 32))
);

-- Sign-ins to the console, kept for a year; of refused ones the last 50,000.
CREATE TABLE packhouse.sign_in (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  method text NOT NULL,
  -- As it was given, or the prefix of a key; empty: unknown
  name text NOT NULL,
  -- Of the client; of IPv6 its /64
  address text NOT NULL,
  -- accepted, or the code of the error
  outcome text NOT NULL,
  CONSTRAINT sign_in_pkey PRIMARY KEY (id),
  CONSTRAINT sign_in_method_check CHECK ((method = ANY (ARRAY['link'::text, 'password'::text, 'key'::text, 'oidc'::text]))),
  CONSTRAINT sign_in_name_check CHECK ((length(name) <= 200))
);

CREATE TABLE packhouse.sign_in_failure (
  -- A name, or the address of a client.
  subject text NOT NULL,
  failures integer NOT NULL,
  last_at timestamp with time zone NOT NULL,
  CONSTRAINT sign_in_failure_pkey PRIMARY KEY (subject),
  CONSTRAINT sign_in_failure_subject_check CHECK ((length(subject) <= 300))
);

-- Public halves of the keys that sign entries. The private half is never in the database.
CREATE TABLE packhouse.signing_key (
  id smallint GENERATED ALWAYS AS IDENTITY NOT NULL,
  -- First 16 hex digits of the SHA-256 of the raw public key.
  key_id text NOT NULL,
  public_key bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  retired_at timestamp with time zone,
  CONSTRAINT signing_key_pkey PRIMARY KEY (id),
  CONSTRAINT signing_key_key_id_key UNIQUE (key_id),
  CONSTRAINT signing_key_public_key_key UNIQUE (public_key),
  CONSTRAINT signing_key_public_key_check CHECK ((octet_length(public_key) = 32))
);

-- Proved blocks that are not published yet. One partition per 1,024 blocks, created on demand and dropped whole, so that nothing is vacuumed; no foreign keys, which would tie the partitions to other tables.
CREATE TABLE packhouse.staged_block (
  network_id smallint NOT NULL,
  block bigint NOT NULL,
  hash bytea NOT NULL,
  parent_hash bytea NOT NULL,
  timestamp bigint NOT NULL,
  transaction_count integer NOT NULL,
  proofs integer NOT NULL,
  -- Id in node_client; null: unknown
  client smallint,
  -- What was not proved, and why: a JSON array of {proof, because}; empty: nothing
  not_proved text NOT NULL DEFAULT ''::text,
  CONSTRAINT staged_block_pkey PRIMARY KEY (network_id, block)
) PARTITION BY RANGE (network_id, block);

-- Rows that a newer version replaced. Their objects are kept.
CREATE TABLE packhouse.superseded_bundle (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  first_block bigint NOT NULL,
  last_block bigint NOT NULL,
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
  CONSTRAINT superseded_bundle_pkey PRIMARY KEY (network_id, kind, first_block, version)
);

-- Requests sent to nodes, per day; bytes are those received.
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

-- Processes that run jobs. Each writes a heartbeat every few seconds; one without a recent heartbeat has ended.
CREATE TABLE packhouse.worker (
  id uuid NOT NULL,
  -- ingester or packer.
  role text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  -- Names of the networks whose jobs it runs.
  networks text[] NOT NULL,
  -- Of its networks file: equal digests mean equal files.
  networks_digest text NOT NULL,
  -- Why it refused the last change of that file.
  networks_problem text,
  -- Jobs that it runs at a time.
  slots integer NOT NULL,
  -- Jobs that it runs now: [{"job", "seconds"}]
  jobs jsonb NOT NULL,
  -- Since when an operator lets it start no further job; null: it takes jobs
  draining_since timestamp with time zone,
  -- Of packers: whether it has an SMTP server.
  sends_mail boolean,
  started_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT worker_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);

-- indexes

CREATE INDEX abandoned_block_age ON packhouse.abandoned_block USING btree (abandoned_at);

CREATE INDEX alarm_cleared ON packhouse.alarm USING btree (cleared_at) WHERE (cleared_at IS NOT NULL);

CREATE INDEX alarm_network ON packhouse.alarm USING btree (network_id, name, raised_at);

-- At most one alarm of a name is open per network, whichever process raises it.
CREATE UNIQUE INDEX alarm_open ON packhouse.alarm USING btree (network_id, name) WHERE (cleared_at IS NULL);

CREATE INDEX alarm_raised ON packhouse.alarm USING btree (raised_at);

CREATE INDEX api_key_application ON packhouse.api_key USING btree (application_id);

CREATE INDEX api_key_expiry ON packhouse.api_key USING btree (expires_at) WHERE ((revoked_at IS NULL) AND (expires_at IS NOT NULL));

CREATE INDEX application_owner ON packhouse.application USING btree (owner_id);

CREATE INDEX backfill_blocks ON packhouse.backfill USING gist (int8range(first_block, COALESCE(last_block, '9007199254740991'::bigint), '[]'::text));

CREATE INDEX backfill_created ON packhouse.backfill USING btree (created_at);

CREATE INDEX backfill_deadline ON packhouse.backfill USING btree (deadline) WHERE ((deadline IS NOT NULL) AND (NOT done) AND (state <> 'cancelled'::text));

CREATE INDEX backfill_done ON packhouse.backfill USING btree (done_at) WHERE (done_at IS NOT NULL);

CREATE INDEX backfill_last ON packhouse.backfill USING btree (network_id, last_block) WHERE (state <> 'cancelled'::text);

CREATE INDEX backfill_network ON packhouse.backfill USING btree (network_id);

CREATE INDEX backfill_open ON packhouse.backfill USING btree (network_id, id) WHERE ((state = 'active'::text) AND (NOT done));

CREATE INDEX backfill_stopped ON packhouse.backfill USING btree (stopped_at) WHERE (stopped_at IS NOT NULL);

CREATE INDEX bundle_not_proved ON packhouse.bundle USING btree (network_id, kind, first_block) INCLUDE (last_block, not_proved) WHERE (not_proved <> ''::text);

CREATE INDEX bundle_reasons ON packhouse.bundle USING btree (network_id, not_proved) WHERE (not_proved <> ''::text);

CREATE INDEX change_at ON packhouse.change USING btree (at);

CREATE INDEX change_subject ON packhouse.change USING btree (subject, id);

CREATE INDEX condition_alarm ON packhouse.condition USING btree (alarm_id);

CREATE INDEX condition_open ON packhouse.condition USING btree (family) WHERE (ended_at IS NULL);

CREATE INDEX history_day_day ON packhouse.history_day USING btree (day);

CREATE INDEX history_hour_hour ON packhouse.history_hour USING btree (hour);

CREATE INDEX history_mark_at ON packhouse.history_mark USING btree (at);

CREATE INDEX history_mark_deploy ON packhouse.history_mark USING btree (subject, id) WHERE (kind = 'deploy'::text);

CREATE INDEX history_mark_quarantine ON packhouse.history_mark USING btree (network, id) WHERE (subject = 'quarantine'::text);

CREATE INDEX hook_due ON packhouse.hook USING btree (due_at) WHERE ((state = 'active'::text) AND (due_at IS NOT NULL));

CREATE INDEX hook_network ON packhouse.hook USING btree (network_id) WHERE (state = 'active'::text);

CREATE INDEX key_request_at ON packhouse.key_request USING btree (at);

CREATE INDEX key_usage_day ON packhouse.key_usage USING btree (day);

CREATE INDEX lake_file_rebuild ON packhouse.lake_file USING btree (network_id, kind, first_block) WHERE (rebuild AND (removed_snapshot IS NULL));

CREATE INDEX lake_file_removed ON packhouse.lake_file USING btree (removed_at) WHERE (removed_at IS NOT NULL);

-- Entries of a block range: all versions of a bundle have the same range.
CREATE INDEX manifest_range ON packhouse.manifest USING btree (network_id, kind, first_block) INCLUDE (sequence);

-- Repairs after a position in the log, which feeds report.
CREATE INDEX manifest_superseding ON packhouse.manifest USING btree (network_id, kind, sequence) WHERE (supersedes <> '\x'::bytea);

CREATE INDEX method_usage_day ON packhouse.method_usage USING btree (day);

CREATE INDEX nft_job_due ON packhouse.nft_job USING btree (due_at) WHERE (status <> 'done'::text);

CREATE INDEX nft_job_finished ON packhouse.nft_job USING btree (finished_at) WHERE (status = 'done'::text);

CREATE UNIQUE INDEX nft_job_target ON packhouse.nft_job USING btree (network, target) WHERE (status <> 'done'::text);

CREATE INDEX nft_job_requester_application ON packhouse.nft_job_requester USING btree (application);

CREATE INDEX nft_token_asking ON packhouse.nft_token USING btree (asked_by) WHERE (asked_by IS NOT NULL);

CREATE INDEX notification_told_key ON packhouse.notification_told USING btree (key);

CREATE INDEX operator_secret_key ON packhouse.operator_secret USING btree (key_id);

CREATE INDEX operator_secret_operator ON packhouse.operator_secret USING btree (operator_id);

CREATE INDEX pending_transaction_age ON packhouse.pending_transaction USING btree (seen_at);

CREATE INDEX published_chunk_version ON packhouse.published_chunk USING btree (network_id, kind, version);

CREATE INDEX published_pace_slot ON packhouse.published_pace USING btree (network_id, kind, slot);

CREATE INDEX quarantine_due ON packhouse.quarantine USING btree (network_id, next_try);

CREATE INDEX quarantine_range ON packhouse.quarantine USING gist (int8range(first_block, last_block, '[]'::text));

CREATE INDEX rpc_filter_expiry ON packhouse.rpc_filter USING btree (expires_at);

CREATE INDEX rpc_filter_key ON packhouse.rpc_filter USING btree (key_id);

-- One run per schedule at a time.
CREATE UNIQUE INDEX schedule_run_running ON packhouse.schedule_run USING btree (schedule) WHERE (ended_at IS NULL);

CREATE INDEX schedule_run_seen ON packhouse.schedule_run USING btree (seen_at);

CREATE INDEX sign_in_at ON packhouse.sign_in USING btree (at);

CREATE INDEX sign_in_refused ON packhouse.sign_in USING btree (id) WHERE (outcome <> 'accepted'::text);

-- One key signs at a time.
CREATE UNIQUE INDEX signing_key_current ON packhouse.signing_key USING btree (((retired_at IS NULL))) WHERE (retired_at IS NULL);

-- functions

CREATE OR REPLACE FUNCTION packhouse.backfill_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.backfill_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.backfill_truncated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM packhouse.raise_requested_version(array(SELECT network_id FROM packhouse.requested_version));
  DELETE FROM packhouse.requested_run;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.backfill_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_runs_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_truncated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.bundle_unsealed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- A transaction that appends the entry itself sets this.
  IF current_setting('packhouse.sealed', true) IS DISTINCT FROM 'yes' THEN
    INSERT INTO packhouse.manifest_pending (network_id, kind, first_block, version)
    SELECT network_id, kind, first_block, version FROM inserted
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION packhouse.change_requested_runs(network smallint, of_kind smallint, of_state text, removed int8multirange, added int8multirange)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.published_pace_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.raise_requested_version(networks smallint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO packhouse.requested_version (network_id, version)
  SELECT DISTINCT network_id, 1 FROM unnest(networks) AS network_id ORDER BY network_id
  ON CONFLICT (network_id) DO UPDATE SET version = requested_version.version + 1
$function$;

CREATE OR REPLACE FUNCTION packhouse.reopen_backfills()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION packhouse.require_lease(of_name text, of_holder uuid, of_token bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- triggers

CREATE TRIGGER backfill_deleted AFTER DELETE ON packhouse.backfill REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.backfill_deleted();

CREATE TRIGGER backfill_inserted AFTER INSERT ON packhouse.backfill REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.backfill_inserted();

CREATE TRIGGER backfill_truncated AFTER TRUNCATE ON packhouse.backfill FOR EACH STATEMENT EXECUTE FUNCTION packhouse.backfill_truncated();

CREATE TRIGGER backfill_updated AFTER UPDATE ON packhouse.backfill REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION packhouse.backfill_updated();

CREATE TRIGGER bundle_deleted AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_deleted();

CREATE TRIGGER bundle_inserted AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_inserted();

CREATE TRIGGER bundle_is_immutable BEFORE UPDATE ON packhouse.bundle FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_is_immutable();

CREATE TRIGGER bundle_runs_deleted AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_deleted();

CREATE TRIGGER bundle_runs_inserted AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_runs_inserted();

CREATE TRIGGER bundle_truncated AFTER TRUNCATE ON packhouse.bundle FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_truncated();

CREATE TRIGGER bundle_unsealed AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_unsealed();

CREATE TRIGGER published_chunk_deleted AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_changed();

CREATE TRIGGER published_chunk_inserted AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_chunk_changed();

CREATE TRIGGER published_pace_deleted AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_pace_changed();

CREATE TRIGGER published_pace_inserted AFTER INSERT ON packhouse.bundle REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION packhouse.published_pace_changed();

CREATE TRIGGER reopen_backfills AFTER DELETE ON packhouse.bundle REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.reopen_backfills();

CREATE TRIGGER lake_entry_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON packhouse.lake_entry FOR EACH STATEMENT EXECUTE FUNCTION packhouse.manifest_is_append_only();

CREATE TRIGGER manifest_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON packhouse.manifest FOR EACH STATEMENT EXECUTE FUNCTION packhouse.manifest_is_append_only();
