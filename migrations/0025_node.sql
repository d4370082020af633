-- What ingesters and gateways know of their upstreams, each process for itself; written every few seconds, and worth nothing after a crash.
CREATE UNLOGGED TABLE packhouse.node_report (
  process  uuid        NOT NULL, -- made by the process when it started
  network  text        NOT NULL,
  upstream text        NOT NULL, -- its name in the networks file
  provider text        NOT NULL,
  role     text        NOT NULL, -- ingester or gateway
  host     text        NOT NULL,
  report   jsonb       NOT NULL, -- NodeReport of packages/database/src/contract/nodes.ts
  seen_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (process, network, upstream)
);

-- Upstreams that operators took out: no process asks them.
CREATE TABLE packhouse.node_cordon (
  network  text        NOT NULL,
  upstream text        NOT NULL,
  who      text        NOT NULL,
  why      text        NOT NULL,
  at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (network, upstream)
);
