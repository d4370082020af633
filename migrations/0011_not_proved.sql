-- What of a block or bundle was not proved, and why: a JSON array of {proof, because}; empty: nothing. Older programs
-- go on beside it: what they write has the default.
ALTER TABLE packhouse.staged_block ADD COLUMN not_proved text NOT NULL DEFAULT '';
ALTER TABLE packhouse.bundle ADD COLUMN not_proved text NOT NULL DEFAULT '';
ALTER TABLE packhouse.superseded_bundle ADD COLUMN not_proved text NOT NULL DEFAULT '';
ALTER TABLE packhouse.manifest ADD COLUMN not_proved text NOT NULL DEFAULT '';

-- Empty where everything is proved: the list of reasons of a network, and the bundles of a range, without a look at
-- the others.
CREATE INDEX bundle_reasons ON packhouse.bundle (network_id, not_proved) WHERE not_proved <> '';
CREATE INDEX bundle_not_proved ON packhouse.bundle (network_id, kind, start_block) INCLUDE (end_block, not_proved)
  WHERE not_proved <> '';
