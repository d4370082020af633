-- Refreshing what tokens of the core family say of themselves. The state of a job is here and nowhere else: whichever
-- gateway dies, another goes on where it was.
CREATE TABLE packhouse.nft_job (
  id bytea PRIMARY KEY, -- 16 random bytes
  network text NOT NULL,
  target text NOT NULL, -- what is refreshed, as one name: there is one job of it at a time
  contract text,
  owner text,
  token_id text, -- 0x hex without leading zeros
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'done')),
  found boolean NOT NULL, -- its tokens are known
  complete boolean NOT NULL, -- and they are all that there are
  failures int4 NOT NULL DEFAULT 0, -- how often it was put off since no node answered
  takeovers int4 NOT NULL DEFAULT 0, -- how often its lease ran out
  lease bytea, -- who works on it; whoever lost it writes nothing more
  due_at timestamptz NOT NULL DEFAULT now(), -- when it may be taken; while it runs, the end of its lease
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX nft_job_target ON packhouse.nft_job (network, target) WHERE status <> 'done';
CREATE INDEX nft_job_due ON packhouse.nft_job (due_at) WHERE status <> 'done';
CREATE INDEX nft_job_finished ON packhouse.nft_job (finished_at) WHERE status = 'done';

-- The applications that asked for a job, and may look at it.
CREATE TABLE packhouse.nft_job_asker (
  job_id bytea NOT NULL REFERENCES packhouse.nft_job ON DELETE CASCADE,
  application text NOT NULL,
  PRIMARY KEY (job_id, application)
);
CREATE INDEX nft_job_asker_application ON packhouse.nft_job_asker (application);

CREATE TABLE packhouse.nft_job_token (
  job_id bytea NOT NULL REFERENCES packhouse.nft_job ON DELETE CASCADE,
  position int4 NOT NULL,
  contract text NOT NULL,
  token_id text NOT NULL,
  outcome text, -- null: not yet
  asked_at timestamptz, -- when the outcome was asked for
  refreshed boolean NOT NULL DEFAULT false, -- false: the outcome was asked for shortly before, by another job
  PRIMARY KEY (job_id, position)
) WITH (fillfactor = 70);

CREATE TABLE packhouse.nft_token (
  network text NOT NULL,
  contract text NOT NULL,
  token_id text NOT NULL,
  asked_at timestamptz NOT NULL, -- by the gateway's clock
  asked_by bytea REFERENCES packhouse.nft_job ON DELETE SET NULL, -- the job that is asking now
  outcome text, -- of the last time; null: there was none yet
  standard text, -- erc721 or erc1155
  uri text, -- as the contract gave it, {id} filled in; of data: only the beginning
  metadata text, -- the JSON as it was fetched last
  indexed_at timestamptz,
  PRIMARY KEY (network, contract, token_id)
) WITH (fillfactor = 70);
CREATE INDEX nft_token_asking ON packhouse.nft_token (asked_by) WHERE asked_by IS NOT NULL;
