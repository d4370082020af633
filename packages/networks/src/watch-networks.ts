import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Context, describeError, isPackhouseError, openScope } from '@packhouse/runtime';
import { changeText, describeChange, type NetworksChange } from './describe-change.js';
import type { Network } from './network.js';
import { loadNetworks, parseNetworks } from './parse-networks.js';

interface NetworksWatchOptions {
  path: string;
  env: Record<string, string | undefined>;
  context: Context;
  /** The current networks. */
  networks: readonly Network[];
  /**
   * Applies new networks. An error that it throws is logged, and the old ones stay; after one that may be over later
   * it is called again.
   */
  apply(networks: readonly Network[], changes: readonly NetworksChange[]): Promise<void>;
  /** How often the file is read, in milliseconds; default 1000. A notification of the system triggers a read sooner. */
  everyMs?: number;
}

/** Applies changes of a networks file. */
export interface NetworksWatch {
  /** The problem of the current file, as one sentence; null if it is applied. */
  problem(): string | null;
  /** Eight hex digits of the networks in force: equal networks have equal ones, on all machines. */
  digest(): string;
  /** Stops watching, as the end of the process does; resolves when a change that is being applied is done. */
  close(): Promise<void>;
}

const EVERY_MS = 1_000;
/** A file is applied if two reads this many milliseconds apart are equal, as editors write in several steps. */
const SETTLE_MS = 100;

/**
 * Reads the file at intervals and applies it if it changed. Notifications of the system are only a hint, as they
 * sometimes miss that an editor replaces the file or that Kubernetes swaps the folder behind a link.
 */
export function watchNetworks(options: NetworksWatchOptions): NetworksWatch {
  const { context, env, path: file } = options;
  const closing = new AbortController();
  let inForce = options.networks;
  let problem: string | null = null;
  /** The last text that was parsed; null if it could not be read. */
  let judged: string | null | undefined;
  let hint = (): void => undefined;
  const gauge = context.metrics.gauge(
    'packhouse_networks_file_ok',
    '1 if the current networks file is applied; 0 if its last change was rejected.',
    [],
    undefined,
    'min',
  );
  gauge.set(1);

  const refuse = (error: unknown): void => {
    if (isPackhouseError(error) && error.retryable) judged = undefined;
    gauge.set(0);
    const sentence = describeError(error);
    if (sentence === problem) return;
    problem = sentence;
    context.logger.error({ err: error }, 'networks file rejected; the last valid one stays in use');
  };

  const judge = async (text: string | null): Promise<void> => {
    judged = text;
    try {
      // Reading it once more throws the reason.
      const networks =
        text === null ? await loadNetworks(file, env) : parseNetworks(text, { source: file, env });
      const changes = describeChange(inForce, networks);
      if (changes.length > 0) {
        await options.apply(networks, changes);
        inForce = networks;
        context.logger.info({ changes: changes.map(changeText) }, 'networks file applied');
      } else if (problem !== null) {
        context.logger.info('networks file is unchanged again');
      }
      problem = null;
      gauge.set(1);
    } catch (error) {
      refuse(error);
    }
  };

  const pause = (ms: number): Promise<void> => context.clock.sleep(ms, closing.signal).catch(() => undefined);
  const look = async (): Promise<void> => {
    const text = await getText(file);
    if (text === judged) return;
    await pause(SETTLE_MS);
    if (!closing.signal.aborted && (await getText(file)) === text) await judge(text);
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted && !context.signal.aborted) {
      await look();
      // A hint ends the pause: where another file of the folder is written all the time, pauses would pile up.
      const rest = openScope(closing.signal);
      hint = () => rest.abort(new Error('the folder changed'));
      await context.clock.sleep(options.everyMs ?? EVERY_MS, rest.signal).catch(() => undefined);
      rest.close();
    }
  };
  const watcher = getHints(file, () => hint());
  const running = run();

  return {
    problem: () => problem,
    digest: () => createHash('sha256').update(JSON.stringify(inForce)).digest('hex').slice(0, 8),
    async close() {
      closing.abort(new Error('the watch is closed'));
      watcher?.close();
      await running;
    },
  };
}

/** The text of the file, or null if it cannot be read. */
async function getText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return null;
  }
}

/** Notifications of changes in the file's folder; null if the system has none. */
function getHints(file: string, onHint: () => void): FSWatcher | null {
  try {
    const watcher = watch(path.dirname(file), { persistent: false }, onHint);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
