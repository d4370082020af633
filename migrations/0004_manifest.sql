-- The manifest: per network and kind an append-only, hash-chained, signed log of published bundles; versions of
-- bundles; which node client gave a block. Everything is added with defaults: older programs go on beside it.

-- What nodes call themselves (web3_clientVersion). Few; the ids are kept with staged blocks.
CREATE TABLE packhouse.node_client (
  id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

ALTER TABLE packhouse.staged_block ADD COLUMN client smallint; -- null: not known

-- A repaired bundle is published under the same range with the next version.
ALTER TABLE packhouse.bundle ADD COLUMN version int2 NOT NULL DEFAULT 1;

-- The rows that a newer version took the place of; their objects are kept.
CREATE TABLE packhouse.superseded_bundle (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  start_block int8 NOT NULL,
  end_block int8 NOT NULL,
  version int2 NOT NULL,
  byte_length int8 NOT NULL,
  raw_length int8 NOT NULL,
  proofs int4 NOT NULL,
  format_version int2 NOT NULL,
  published_at timestamptz NOT NULL,
  sha256 bytea NOT NULL,
  first_hash bytea NOT NULL,
  first_parent_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  object_key text NOT NULL,
  fragments bytea NOT NULL,
  superseded_at timestamptz NOT NULL DEFAULT now(),
  reason text NOT NULL,
  PRIMARY KEY (network_id, kind, start_block, version)
);

-- How often a bundle of this kind was superseded: a change tells whoever remembers rows of the index.
ALTER TABLE packhouse.published ADD COLUMN superseded int8 NOT NULL DEFAULT 0;

-- Public halves of the keys that entries are signed with. The private half is never here.
CREATE TABLE packhouse.signing_key (
  id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key_id text NOT NULL UNIQUE, -- first 16 hex digits of the SHA-256 of the raw public key
  public_key bytea NOT NULL UNIQUE CHECK (octet_length(public_key) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  retired_at timestamptz
);
-- One key signs at a time.
CREATE UNIQUE INDEX signing_key_current ON packhouse.signing_key ((retired_at IS NULL)) WHERE retired_at IS NULL;

-- Who made a bundle, of what nodes' answers: the same few for millions of entries.
CREATE TABLE packhouse.manifest_origin (
  id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  producer text NOT NULL,
  clients text[] NOT NULL,
  UNIQUE (producer, clients)
);

-- Ten million rows and more: no column is null (no bitmap), wide ones first (no padding), and what is the same in
-- many rows stands elsewhere. The line that is handed out is made of the row; its own hash proves that it is the same.
CREATE TABLE packhouse.manifest (
  start_block int8 NOT NULL,
  end_block int8 NOT NULL,
  byte_length int8 NOT NULL,
  raw_length int8 NOT NULL,
  published_at timestamptz NOT NULL, -- whole milliseconds
  sequence int4 NOT NULL, -- 0, 1, 2, … within network and kind
  proofs int4 NOT NULL,
  origin_id int4 NOT NULL,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  version int2 NOT NULL,
  key_id smallint NOT NULL,
  sha256 bytea NOT NULL,
  first_hash bytea NOT NULL,
  first_parent_hash bytea NOT NULL,
  last_hash bytea NOT NULL,
  hash bytea NOT NULL,
  signature bytea NOT NULL,
  supersedes bytea NOT NULL DEFAULT '', -- sha256 of the version before, empty: there is none
  PRIMARY KEY (network_id, kind, sequence)
);

CREATE FUNCTION packhouse.manifest_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an entry of the manifest never changes' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER manifest_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON packhouse.manifest
  FOR EACH STATEMENT EXECUTE FUNCTION packhouse.manifest_is_append_only();

-- Bundles that were published without an entry: by an older program, or by somebody without the signing key. The
-- next packer appends their entries. A transaction that appends the entry itself says so with a setting of its own.
CREATE TABLE packhouse.manifest_pending (
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  start_block int8 NOT NULL,
  version int2 NOT NULL,
  PRIMARY KEY (network_id, kind, start_block, version)
);
INSERT INTO packhouse.manifest_pending (network_id, kind, start_block, version)
SELECT network_id, kind, start_block, version FROM packhouse.bundle;

CREATE FUNCTION packhouse.bundle_unsealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('packhouse.sealed', true) IS DISTINCT FROM 'yes' THEN
    INSERT INTO packhouse.manifest_pending (network_id, kind, start_block, version)
    SELECT network_id, kind, start_block, version FROM inserted
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER bundle_unsealed AFTER INSERT ON packhouse.bundle
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION packhouse.bundle_unsealed();
