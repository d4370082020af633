-- The items of a fragment's filter, 10 bytes each (Piece.items of packages/bundle), found when the fragment is made.
-- Null: not known, as of fragments that an older program staged; the packer finds them in the body.
ALTER TABLE packhouse.fragment ADD COLUMN items bytea STORAGE EXTERNAL;
