/** What one process knows of one upstream. No field has credentials, or more of an address than its host. */
export interface NodeReport {
  /** `ok`: asked like any other; else why it is not. */
  state: 'ok' | 'resting' | 'another-chain' | 'another-branch' | 'distrusted' | 'cordoned';
  /** Client version; null: unknown. */
  client: string | null;
  head: number | null;
  /** HTTP requests under way, and how many may be. */
  inFlight: number;
  maxInFlight: number;
  /** Blocks and answers that failed a proof, since the process began. */
  lies: number;
  /** Why backfills may not ask it now, by its budget; null: they may. */
  keptBack: string | null;
  /** Of the last five minutes, the most asked first. `ms`: mean time of an answer; null: there was none. */
  methods: { method: string; calls: number; ms: number | null }[];
  /** Of the last five minutes, by meaning. */
  errors: { meaning: string; calls: number }[];
  lastError: string | null;
  can: string[];
  lacks: string[];
}

export interface NodeReportRow {
  /** A UUID that the process made when it started. */
  process: string;
  role: 'ingester' | 'gateway';
  host: string;
  network: string;
  upstream: string;
  provider: string;
  report: NodeReport;
  /** By the clock of the database. */
  seenAt: Date;
}

export interface NodeCordon {
  network: string;
  upstream: string;
  who: string;
  why: string;
  at: Date;
}

/** The upstreams, as the processes that ask them report; and those that operators took out. */
export interface Nodes {
  /** Replaces what a process reports. */
  report(
    process: Pick<NodeReportRow, 'process' | 'role' | 'host'>,
    rows: readonly Pick<NodeReportRow, 'network' | 'upstream' | 'provider' | 'report'>[],
  ): Promise<void>;
  /** Removes what it reported. */
  leave(process: string): Promise<void>;
  /** Reports of the last 15 s, of one network or of all, by network and upstream. */
  list(page: { network?: string | undefined; limit: number }): Promise<NodeReportRow[]>;
  cordons(): Promise<NodeCordon[]>;
  /** Returns null if it is cordoned already: that stays as it is. */
  cordon(given: Omit<NodeCordon, 'at'>): Promise<NodeCordon | null>;
  /** Returns what was ended; null: there was none. */
  uncordon(network: string, upstream: string): Promise<NodeCordon | null>;
}
