import type { Upstream } from '@packhouse/networks';
import type { BlockSource, MethodAnswers } from '@packhouse/node-rpc';
import { type Estimate, estimateTotal } from './estimate.js';
import type { SampledBlock } from './sample.js';

type Status = ReturnType<BlockSource['status']>[number];

/** Calls of one method to one upstream, if it serves the part of the blocks that it served of the sample. */
export interface MethodCost {
  upstream: string;
  method: string;
  /** Calls, as providers bill them: a batch of ten is ten. */
  requests: Estimate;
  /** HTTP requests, in batches of the size that ingesters settle on for answers of this size. */
  httpRequests: number;
  /** Bytes of the answers, after decoding. */
  bytes: Estimate;
}

/** What `blocks` blocks cost at each upstream that served a part of the sample, by method. */
export function callCosts(
  sample: readonly SampledBlock[],
  blocks: number,
  source: Pick<BlockSource, 'status' | 'usualBatch'>,
): MethodCost[] {
  const costs: MethodCost[] = [];
  for (const { name: upstream } of source.status()) {
    const served = sample.filter((block) => block.upstream === upstream);
    const methods = new Set(served.flatMap(({ answered }) => answered.map(({ method }) => method)));
    for (const method of methods) {
      const answers = sample.map((block): MethodAnswers => {
        const own = block.upstream === upstream ? block.answered : [];
        return own.find((each) => each.method === method) ?? { method, calls: 0, bytes: 0 };
      });
      const counts = answers.map(({ calls }) => calls);
      const most = method === SINGLE_RECEIPT ? Number.POSITIVE_INFINITY : 1;
      const requests =
        method === EVERY_BLOCK && served.length === sample.length
          ? { value: blocks, low: blocks, high: blocks }
          : estimateTotal(counts, blocks, most);
      const bytes = estimateTotal(
        answers.map((each) => each.bytes),
        blocks,
      );
      const batch = source.usualBatch(upstream, bytes.value / requests.value);
      const httpRequests = Math.ceil(requests.value / batch);
      costs.push({ upstream, method, requests, httpRequests, bytes });
    }
  }
  return costs;
}

/** The method that is called once for every block. */
const EVERY_BLOCK = 'eth_getBlockByNumber';
/** The method that is called for every transaction. */
const SINGLE_RECEIPT = 'eth_getTransactionReceipt';
/** The shortest latency that is reckoned with, in milliseconds: they are measured to one. */
const MIN_LATENCY_MS = 1;

/**
 * Seconds that the calls take if every upstream is kept as busy as it may be: as many calls a second as it allows, and as
 * many HTTP requests in flight, each as long as those of the sample. The slowest one counts, for its part.
 */
export function nodeSeconds(
  costs: readonly MethodCost[],
  statuses: readonly Status[],
  upstreams: readonly Upstream[],
): number {
  const seconds = upstreams.map(({ name, requestsPerSecond, maxInFlight }) => {
    const own = costs.filter(({ upstream }) => upstream === name);
    const calls = own.reduce((sum, { requests }) => sum + requests.value, 0);
    const http = own.reduce((sum, { httpRequests }) => sum + httpRequests, 0);
    const latencyMs = statuses.find((status) => status.name === name)?.latencyMs ?? 0;
    const inFlight = (http * Math.max(MIN_LATENCY_MS, latencyMs)) / 1_000 / Math.max(1, maxInFlight);
    return Math.max(inFlight, requestsPerSecond === undefined ? 0 : calls / requestsPerSecond);
  });
  return Math.max(...seconds);
}
