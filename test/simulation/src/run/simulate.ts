import type { Verdict } from '../invariants/verdict.js';
import { describeAction } from '../schedule/describe-action.js';
import { makeSchedule } from '../schedule/make-schedule.js';
import { heal } from './heal.js';
import { judge } from './judge.js';
import { perform } from './perform.js';
import type { SimulationOptions } from './settings.js';
import { createWorld, type World } from './world.js';

/** The result of a simulation. */
export interface SimulationResult {
  seed: number;
  steps: number;
  queue: 'postgres' | 'redis';
  /** How long it took in all, and the healing of it, in milliseconds. */
  ms: number;
  healMs: number;
  /** Faults by port and kind, those that really struck. */
  faults: Record<string, number>;
  blocks: { first: number; head: number; finalized: number; fetchedAgain: number };
  bundles: number;
  kills: number;
  downloads: { files: number; pointers: number; statuses: Record<string, number> };
  /** Quarantined blocks that were driven again at once. */
  retried: number;
  memory: Record<string, number>;
  verdicts: Verdict[];
  violated: boolean;
  /** The work folder, where it was kept. */
  directory: string | null;
}

/** Builds the world, performs the schedule of the seed, lets everything heal, judges. */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const say = options.say ?? (() => undefined);
  const begun = Date.now();
  const schedule = makeSchedule(options.seed, options.steps);
  const world = await createWorld(options);
  let keep = true;
  try {
    say(`world up after ${Date.now() - begun} ms in ${world.directory}`);
    const pending = new Set<Promise<unknown>>();
    for (const [at, { action, thenMs }] of schedule.entries()) {
      options.signal?.throwIfAborted();
      say(`step ${at + 1}: ${describeAction(action)}`);
      await perform(world, action, at, pending);
      await new Promise((resolve) => setTimeout(resolve, thenMs));
    }
    const healing = await heal(world, pending);
    say(`healed after ${healing.ms} ms`);
    await world.downloader.stop();
    const verdicts = await judge(world, healing);
    const violated = verdicts.some(({ violations }) => violations.length > 0);
    keep = violated || options.keep === true;
    return {
      ...figures(world),
      ms: Date.now() - begun,
      healMs: healing.ms,
      retried: healing.retried,
      verdicts,
      violated,
      directory: keep ? world.directory : null,
    };
  } finally {
    await world.close(keep);
  }
}

function figures(
  world: World,
): Omit<SimulationResult, 'ms' | 'healMs' | 'retried' | 'verdicts' | 'violated' | 'directory'> {
  const { options, chain, nodes, tally, watcher, downloader, memory } = world;
  const faults: Record<string, number> = { ...tally.read() };
  for (const [kind, count] of Object.entries(nodes.struck())) faults[`node: ${kind}`] = count;
  const kills = Object.entries(faults)
    .filter(([kind]) => kind.startsWith('process: SIGKILL'))
    .reduce((sum, [, count]) => sum + count, 0);
  return {
    seed: options.seed,
    steps: options.steps,
    queue: options.queue,
    faults,
    blocks: {
      first: chain.first,
      head: chain.head(),
      finalized: chain.finalized(),
      fetchedAgain: [...nodes.given().values()].reduce((sum, times) => sum + times - 1, 0),
    },
    bundles: watcher.sightings().length,
    kills,
    downloads: {
      files: downloader.files(),
      pointers: downloader.pointers().length,
      statuses: { ...downloader.statuses() },
    },
    memory: Object.fromEntries(memory.most()),
  };
}
