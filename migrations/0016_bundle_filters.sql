-- Filters that lie beside bundles: which addresses and topics a file can hold. Older programs go on beside it: what they
-- publish gets its filter later.
CREATE TABLE packhouse.bundle_filter (
  start_block int8 NOT NULL,
  byte_length int4 NOT NULL,
  network_id smallint NOT NULL,
  kind smallint NOT NULL,
  version int2 NOT NULL, -- of the bundle, whose object it lies beside
  bundle_sha256 bytea NOT NULL, -- of the file that it was made of: another one has another filter
  sha256 bytea NOT NULL,
  PRIMARY KEY (network_id, kind, start_block, version)
);

-- The filter that an entry names; empty and 0: none.
ALTER TABLE packhouse.manifest ADD COLUMN filter_sha256 bytea NOT NULL DEFAULT '';
ALTER TABLE packhouse.manifest ADD COLUMN filter_bytes int4 NOT NULL DEFAULT 0;
