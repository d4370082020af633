import { setTimeout as sleep } from 'node:timers/promises';
import { toQuantity } from '@packhouse/chain';
import { createUpstreamClient, parseQuantity } from '@packhouse/node-rpc';
import { PackhouseError, systemClock } from '@packhouse/runtime';

/** The node that blocks are recorded from; answers are parsed and not checked. */
export interface SourceNode {
  chainId(): Promise<number>;
  block(number: number): Promise<unknown>;
  /** Asks for one receipt after the other if the node has no method for all. */
  receipts(number: number, hashes: readonly string[]): Promise<unknown>;
  traces(number: number): Promise<unknown>;
  close(): Promise<void>;
}

/** Requests in flight. */
export const MAX_IN_FLIGHT = 4;
const MAX_BODY_BYTES = 268_435_456;
const TIMEOUT_MS = 120_000;
const RETRIES = 3;

/** Opens the connections. Calls throw the error of the last try, without credentials, and when aborted. */
export function openNode(parts: {
  url: string;
  signal: AbortSignal;
  /** Default 120 s, for one answer. */
  timeoutMs?: number;
  /** Before the first retry, doubled with each; default 1 s. A node that sets a time is asked after that. */
  pauseMs?: number;
}): SourceNode {
  const { url, signal, timeoutMs = TIMEOUT_MS, pauseMs = 1_000 } = parts;
  const client = createUpstreamClient({
    upstream: { name: 'rpc', url, headers: {}, maxInFlight: MAX_IN_FLIGHT },
    clock: systemClock,
    timeoutMs,
    maxBodyBytes: MAX_BODY_BYTES,
    signal,
  });
  /** Of the method for all receipts; a node that lacks it is asked once. */
  let hasBlockReceipts = true;

  const call = async (method: string, params: readonly unknown[], block?: number): Promise<unknown> => {
    for (let retry = 0; ; retry++) {
      const answer = await client.call(method, params, block);
      if (answer.kind === 'result') return answer.value;
      if (retry === RETRIES || answer.retryAfterMs === undefined) throw answer.error;
      await sleep(Math.max(answer.retryAfterMs, pauseMs * 2 ** retry), undefined, { signal });
    }
  };

  return {
    async chainId() {
      const answer = await call('eth_chainId', []);
      const chainId = parseQuantity(answer);
      if (chainId !== null) return chainId;
      throw new PackhouseError({
        code: 'NODE_ANSWER_INVALID',
        message: `The answer to eth_chainId is ${JSON.stringify(answer)?.slice(0, 100)}, expected a QUANTITY.`,
        hint: 'Check that the address is that of an EVM node.',
      });
    },
    block: (number) => call('eth_getBlockByNumber', [toQuantity(number), true], number),
    async receipts(number, hashes) {
      if (hasBlockReceipts) {
        try {
          return await call('eth_getBlockReceipts', [toQuantity(number)], number);
        } catch (error) {
          if (!(error instanceof PackhouseError) || error.code !== 'NODE_METHOD_MISSING') throw error;
          hasBlockReceipts = false;
        }
      }
      const receipts: unknown[] = [];
      for (const hash of hashes) receipts.push(await call('eth_getTransactionReceipt', [hash], number));
      return receipts;
    },
    traces: (number) => call('trace_block', [toQuantity(number)], number),
    close: () => client.close(),
  };
}
