-- Which programs may run on this schema. A program's schema version is the number of the newest migration it knows.
-- A migration that older programs cannot live with says so in its own transaction:
--   INSERT INTO packhouse.compatibility (migration, minimum) VALUES ('0012_example', 12);
-- All others only add (columns with defaults, tables, functions), and programs of both versions run side by side.
CREATE TABLE packhouse.compatibility (
  migration text PRIMARY KEY,
  minimum int4 NOT NULL CHECK (minimum > 0) -- the lowest schema version of a program that may still run
);
