-- The entries of a range of blocks, for readers of a part of the log: every version of a bundle has the same range.
CREATE INDEX manifest_range ON packhouse.manifest (network_id, kind, start_block) INCLUDE (sequence);
