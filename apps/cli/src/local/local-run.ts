import type { Context } from '@packhouse/runtime';
import type { DataDirectory } from '../installation/data-directory.js';
import type { CliIo } from '../terminal/io.js';
import type { LocalOptions } from './options.js';
import type { Reporter } from './report.js';

/** What the parts of a run of `packhouse local` share. */
export interface LocalRun {
  io: CliIo;
  context: Context;
  options: LocalOptions;
  directory: DataDirectory;
  reporter: Reporter;
  /** Adds something to end; what was added last is ended first. */
  onClose(close: () => Promise<unknown> | unknown): void;
}
