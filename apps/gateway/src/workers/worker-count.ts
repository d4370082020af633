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

/**
 * Counts the workers: as many as set, or for `cores` as many as the machine and the settings let it have; `reason` says
 * what keeps it from having one for each core, null if nothing does. Throws SETTINGS_INVALID if a number is more than what is divided among them allows.
 */
export function countWorkers(
  settings: CountedSettings,
  networks: readonly Network[],
  machine: { cores: number; memoryBytes: number },
): { count: number; reason: string | null } {
  const configured = settings.GATEWAY_WORKERS;
  const divided = [
    {
      most: Math.floor(settings.BODY_MEMORY / BODIES / settings.MAX_BODY),
      because: `BODY_MEMORY of ${settings.BODY_MEMORY} bytes is divided among the workers, and a quarter of a share must hold MAX_BODY, ${settings.MAX_BODY} bytes`,
    },
    ...networks.flatMap(({ id, upstreams }) =>
      upstreams.map(({ name, maxInFlight }) => ({
        most: maxInFlight,
        because: `maxInFlight of ${name} of ${id} is ${maxInFlight}, divided among the workers`,
      })),
    ),
  ];
  if (configured !== 'cores') {
    const tooMany = configured > 1 ? divided.find(({ most }) => most < configured) : undefined;
    if (tooMany === undefined) return { count: configured, reason: null };
    throw new PackhouseError({
      code: 'SETTINGS_INVALID',
      message: `GATEWAY_WORKERS is ${configured}, expected at most ${Math.max(1, tooMany.most)}: ${tooMany.because}.`,
      hint: 'Raise that setting, or set fewer workers.',
    });
  }
  const { RANGE_CACHE, FILE_CACHE, ANSWER_CACHE, ANSWER_MEMORY, BODY_MEMORY } = settings;
  const caches = RANGE_CACHE + FILE_CACHE + ANSWER_CACHE + ANSWER_MEMORY + 4 * BODY_MEMORY;
  const { cores, memoryBytes } = machine;
  const limits = [
    ...divided,
    {
      most: Math.floor((memoryBytes - caches) / WORKER_BYTES),
      because: `the memory of ${memoryBytes} bytes has room for the caches and so many processes`,
    },
  ];
  const least = limits.reduce((a, b) => (b.most < a.most ? b : a));
  return least.most < cores
    ? { count: Math.max(1, least.most), reason: least.because }
    : { count: cores, reason: null };
}

/**
 * The networks of one of `count` workers: a part of what may be in flight. Throws SETTINGS_INVALID if a node has less
 * than one for each.
 */
export function toWorkerNetworks(networks: readonly Network[], count: number): Network[] {
  if (count === 1) return [...networks];
  return networks.map((network) => ({
    ...network,
    rpc: { ...network.rpc, maxCallsInFlight: Math.ceil(network.rpc.maxCallsInFlight / count) },
    upstreams: network.upstreams.map((upstream) => {
      const { name, maxInFlight } = upstream;
      if (maxInFlight >= count) return { ...upstream, maxInFlight: Math.floor(maxInFlight / count) };
      throw new PackhouseError({
        code: 'SETTINGS_INVALID',
        message: `maxInFlight of ${name} of ${network.id} is ${maxInFlight}, expected at least ${count}, one for each of GATEWAY_WORKERS.`,
        hint: 'Raise it, or set fewer workers.',
      });
    }),
  }));
}
