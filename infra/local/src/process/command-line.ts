import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { closeOpenScopes } from './scope.js';

/** The exit code of a program that cannot do what it was told. */
const USAGE_EXIT = 64;

/** The command line of a program for developers: tests under load, benchmarks. */
export function createCommandLine(host: NodeJS.Process, help: string) {
  const say = (line: string): void => void host.stderr.write(`${line}\n`);
  const usage = (message: string): never => {
    say(`${message}\nRun with --help for what there is.`);
    return host.exit(USAGE_EXIT);
  };
  return {
    say,
    /** Says what is wrong, and exits. */
    usage,
    /** Its options and names; prints the help, if that is asked for, and exits. */
    read<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
      let parsed: ReturnType<typeof parseArgs<T>>;
      try {
        parsed = parseArgs(config);
      } catch (error) {
        return usage((error as Error).message);
      }
      if ((parsed.values as { help?: boolean }).help) {
        host.stdout.write(help);
        host.exit(0);
      }
      return parsed;
    },
    /** The names that are in a list, in its order; all of them if none is given. */
    pick(given: readonly string[], all: readonly string[], what: string): string[] {
      const unknown = given.find((name) => !all.includes(name));
      if (unknown !== undefined) usage(`There is no ${what} "${unknown}"; there are ${all.join(', ')}.`);
      return all.filter((name) => given.length === 0 || given.includes(name));
    },
    /** A whole number above 0. */
    wholeNumber(text: string, name: string): number {
      const value = Number(text);
      if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value;
      return usage(`--${name} takes a whole number above 0, got "${text}".`);
    },
    /** After a signal: ends what open scopes have started, and exits. Returns whether one came. */
    endOnSignals(): () => boolean {
      let stopping = false;
      for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
        host.once(signal, () => {
          stopping = true;
          void closeOpenScopes().finally(() => host.exit(code));
        });
      }
      return () => stopping;
    },
    /** Writes what was measured on this machine as JSON into a folder. */
    async writeResults(folder: string, results: object): Promise<void> {
      await mkdir(folder, { recursive: true });
      const file = `${folder}/${new Date().toISOString().replace(/[:.]/g, '-')}.json`;
      const machine = {
        cores: cpus().length,
        cpu: cpus()[0]?.model,
        memoryBytes: totalmem(),
        node: host.version,
      };
      await writeFile(file, `${JSON.stringify({ at: new Date(), machine, ...results }, null, 2)}\n`);
      host.stdout.write(`\nwritten to ${file}\n`);
    },
  };
}
