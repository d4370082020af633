/** Work that repeats: by a cron pattern in a zone, or every so often. */
export interface Schedule {
  name: string;
  owner: string;
  /** Five fields; null if `everyMs` is set. */
  cron: string | null;
  /** IANA name; null if `everyMs` is set. */
  zone: string | null;
  everyMs: number | null;
  /** What becomes of a time at which no packer lived. */
  missed: 'once' | 'skip';
  /** Arguments of `packhouse`. */
  command: string[];
  /** The setting that it comes from; null: an operator added it. */
  setting: string | null;
  paused: boolean;
  /** Times before are not its own. */
  since: Date;
  /** When a packer last looked for missed times. */
  lookedAt: Date;
  /** The time of a run that is to begin at once. */
  askedFor: Date | null;
}

export type NewSchedule = Pick<
  Schedule,
  'name' | 'owner' | 'cron' | 'zone' | 'everyMs' | 'missed' | 'command' | 'setting'
>;

/** One run, or a time without one. */
export interface ScheduleRun {
  schedule: string;
  due: Date;
  /** Null: skipped or missed. */
  startedAt: Date | null;
  endedAt: Date | null;
  /** Null while it runs; skipped: the run before it still ran; missed: no packer lived. */
  outcome: 'done' | 'failed' | 'skipped' | 'missed' | null;
  exitCode: number | null;
  /** The last line of its output, or why it did not run. */
  said: string | null;
}

type RunEnd = Pick<ScheduleRun, 'exitCode' | 'said'> & { outcome: 'done' | 'failed' };

/** Schedules and their runs. `who` is noted in the history of changes, subject `schedule <name>`. All times are those of the database's clock. */
export interface Schedules {
  /** Returns false if the name is taken. */
  add(schedule: NewSchedule, who: string): Promise<boolean>;
  /** Makes the schedules of a setting exactly these. */
  keepOfSetting(setting: string, schedules: readonly NewSchedule[]): Promise<void>;
  /** By name, each with its newest run and the database's time. */
  list(): Promise<{ now: Date; schedules: (Schedule & { last: ScheduleRun | null })[] }>;
  /** Returns false if there is none. One that goes on has no missed times. */
  setPaused(name: string, paused: boolean, who: string): Promise<boolean>;
  /** Returns false if there is none. Its runs are kept. */
  remove(name: string, who: string): Promise<boolean>;
  /** Asks for a run that begins at once, due now; false if there is none, or a run is asked for already. */
  ask(name: string, who: string): Promise<boolean>;
  /** Asks for the run of a time that had none; false as above. */
  askMissed(name: string, due: Date): Promise<boolean>;
  /** Notes when a packer looked for missed times. */
  looked(name: string, at: Date): Promise<void>;
  /**
   * Begins the run of a time: `running` if another one runs (the time is noted as skipped if `noteSkipped`), `known` if
   * this time had its run.
   */
  begin(name: string, due: Date, noteSkipped: boolean): Promise<'begun' | 'running' | 'known'>;
  /** Says that a run goes on; one that was not heard of for a minute has failed. */
  alive(name: string, due: Date): Promise<void>;
  end(name: string, due: Date, end: RunEnd): Promise<void>;
  /** Notes a time without a run, unless it has one. */
  noteMissed(name: string, due: Date, said: string): Promise<void>;
  /** Ends runs that were not heard of for a minute, and forgets those of more than a year ago. */
  sweep(): Promise<void>;
  /** The newest first. */
  runs(name: string, options: { limit: number; from?: Date }): Promise<ScheduleRun[]>;
}
