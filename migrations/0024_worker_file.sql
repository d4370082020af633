-- Which state of the networks file a worker has in force, and why not the newest.
ALTER TABLE packhouse.worker
  ADD COLUMN networks_digest text NOT NULL DEFAULT '', -- equal digests: equal networks; '' of a program that does not say
  ADD COLUMN networks_problem text; -- why the last change of the file was refused
