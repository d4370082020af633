import type { Network } from '@packhouse/networks';
import { PackhouseError } from '@packhouse/runtime';

/** Memory of a worker beside its part of the caches, in bytes: the process, encoders, bodies while they are parsed. */
const WORKER_BYTES = 268_435_456;
/** One key or address has a quarter of BODY_MEMORY, which must hold the largest body. */
const BODIES = 4;

interface CountedSettings {
  readonly GATEWAY_WORKERS: number | 'cores';
  readonly RANGE_CACHE: number;
  readonly FILE_CACHE: number;
  readonly ANSWER_CACHE: number;
  readonly ANSWER_MEMORY: number;
  readonly BODY_MEMORY: number;
  readonly MAX_BODY: number;
}

/** How many workers a gateway has, and for `cores` what keeps it from having one for each; null: nothing does. */
interface WorkerCount {
  count: number;
  because: string | null;
}

/**
 * Counts the workers: as many as set, or for `cores` as many as the machine and the settings let it have. Throws
 * SETTINGS_INVALID if a number is more than what is divided among them allows.
 */
export function workerCount(
  settings: CountedSettings,
  networks: readonly Network[],
  machine: { cores: number; memoryBytes: number },
): WorkerCount {
  const wanted = settings.GATEWAY_WORKERS;
  const divided = [
    {
      most: Math.floor(settings.BODY_MEMORY / BODIES / settings.MAX_BODY),
      because: `BODY_MEMORY of ${settings.BODY_MEMORY} bytes is divided among them, and a quarter of a part must hold MAX_BODY, ${settings.MAX_BODY} bytes`,
    },
    ...networks.flatMap(({ id, upstreams }) =>
      upstreams.map(({ name, maxInFlight }) => ({
        most: maxInFlight,
        because: `maxInFlight of ${name} of ${id} is ${maxInFlight}, which is divided among them`,
      })),
    ),
  ];
  if (wanted !== 'cores') {
    const tooMany = wanted > 1 ? divided.find(({ most }) => most < wanted) : undefined;
    if (tooMany === undefined) return { count: wanted, because: null };
    throw new PackhouseError({
      code: 'SETTINGS_INVALID',
      message: `GATEWAY_WORKERS is ${wanted}, expected ${Math.max(1, tooMany.most)} at most: ${tooMany.because}.`,
      hint: 'Raise what is divided, or set fewer workers.',
    });
  }
  const { RANGE_CACHE, FILE_CACHE, ANSWER_CACHE, ANSWER_MEMORY, BODY_MEMORY } = settings;
  const caches = RANGE_CACHE + FILE_CACHE + ANSWER_CACHE + ANSWER_MEMORY + 4 * BODY_MEMORY;
  const { cores, memoryBytes } = machine;
  const limits = [
    ...divided,
    {
      most: Math.floor((memoryBytes - caches) / WORKER_BYTES),
      because: `the memory of ${memoryBytes} bytes holds the caches and so many processes`,
    },
  ];
  const least = limits.reduce((a, b) => (b.most < a.most ? b : a));
  return least.most < cores
    ? { count: Math.max(1, least.most), because: least.because }
    : { count: cores, because: null };
}

/**
 * The networks of one of `count` workers: a part of what may be in flight. Throws SETTINGS_INVALID if a node has less
 * than one for each.
 */
export function networksOfWorker(networks: readonly Network[], count: number): Network[] {
  if (count === 1) return [...networks];
  return networks.map((network) => ({
    ...network,
    rpc: { ...network.rpc, maxCallsInFlight: Math.ceil(network.rpc.maxCallsInFlight / count) },
    upstreams: network.upstreams.map((upstream) => {
      const { name, maxInFlight } = upstream;
      if (maxInFlight >= count) return { ...upstream, maxInFlight: Math.floor(maxInFlight / count) };
      throw new PackhouseError({
        code: 'SETTINGS_INVALID',
        message: `maxInFlight of ${name} of ${network.id} is ${maxInFlight}, expected ${count} at least, one for each of GATEWAY_WORKERS.`,
        hint: 'Raise it, or set fewer workers.',
      });
    }),
  }));
}
