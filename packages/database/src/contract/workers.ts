/** What a process that takes jobs says of itself. */
export interface WorkerBeat {
  /** A UUID that it made when it started. */
  id: string;
  role: 'ingester' | 'packer';
  host: string;
  pid: number;
  /** Ids of the networks that it takes jobs of. */
  networks: readonly string[];
  /** Of the networks file that it has in force: equal digests mean equal files. */
  networksDigest: string;
  /** Why it refused the last change of that file; null if it did not. */
  networksProblem: string | null;
  /** Jobs that it runs at a time. */
  slots: number;
  /** The jobs that it runs, and for how long. */
  doing: readonly { job: string; seconds: number }[];
}

export interface WorkerRow extends WorkerBeat {
  /** Whether an operator told it to take no further job. */
  draining: boolean;
  startedAt: Date;
  /** By the clock of the database. */
  seenAt: Date;
}

/** The processes that take jobs, by their heartbeats. */
export interface Workers {
  /** Writes a heartbeat; to be repeated every few seconds. Returns what operators want of it. */
  beat(worker: WorkerBeat): Promise<{ draining: boolean }>;
  /** Removes its row. */
  leave(id: string): Promise<void>;
  /** Those seen in the last 15 s, by role and host. */
  list(): Promise<WorkerRow[]>;
  /** Ingest jobs that live ingesters of a network run at a time, those that drain left out. */
  slots(network: string): Promise<number>;
  /**
   * Networks of all ingesters that did not leave, also of those that were killed, for a day; null if there is none.
   */
  networks(): Promise<string[] | null>;
  /** Returns false if there is no such worker. */
  setDraining(id: string, draining: boolean): Promise<boolean>;
}
