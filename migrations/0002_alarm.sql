-- What an operator must be told loudly, by name. Cleared alarms are kept: they say what happened and when.
CREATE TABLE packhouse.alarm (
  id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  network_id smallint NOT NULL REFERENCES packhouse.network,
  name text NOT NULL,
  message text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}',
  raised_at timestamptz NOT NULL DEFAULT now(),
  cleared_at timestamptz, -- null: open
  cleared_by text CHECK (cleared_by IN ('operator', 'itself'))
);
-- At most one of a name is open in a network, whoever raises it.
CREATE UNIQUE INDEX alarm_open ON packhouse.alarm (network_id, name) WHERE cleared_at IS NULL;
CREATE INDEX alarm_network ON packhouse.alarm (network_id, name, raised_at);

-- The highest final block that was noted with its hash: the chain must have it for ever. Its number stands beside
-- the hash because a program that does not know these columns moves `finalized` without them.
ALTER TABLE packhouse.head ADD COLUMN anchor_block int8;
ALTER TABLE packhouse.head ADD COLUMN anchor_hash bytea;
