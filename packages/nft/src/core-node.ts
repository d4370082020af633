import { type Network, nodeMethod } from '@packhouse/networks';
import type { Forwarder } from '@packhouse/node-rpc';

/** No upstream was available, or none had the answer: not the caller's fault, and tried again later. */
export class NodeTroubleError extends Error {}

/** The calls that refreshing makes to the upstreams of a core network. */
export interface CoreNode {
  /** The newest epoch that has been executed. */
  epoch(signal: AbortSignal): Promise<number>;
  /** A call of a contract at the newest state; throws NodeTroubleError. */
  call(
    to: string,
    data: string,
    signal: AbortSignal,
  ): Promise<{ data: string } | { reverted: true } | { tooLarge: true }>;
  /** Logs, oldest first; null if the upstreams refuse so many. Throws NodeTroubleError. */
  logs(filter: object, signal: AbortSignal): Promise<unknown[] | null>;
}

/** A document within a URI, as base64 and then as hex, with room for the words around it. */
const CALL_BYTES = 3_145_728;
const LOG_BYTES = 16_777_216;

/** Codes of nodes for a failed call (conflux-rust, client/src/rpc/error_codes.rs), and geth's. */
const REVERTS = new Set([-32015, -32016, 3]);

/** Asks through the forwarder of a network. */
export function createCoreNode(network: Network, forwarder: Forwarder): CoreNode {
  const ask = (
    method: string,
    params: unknown[],
    signal: AbortSignal,
    limits: { timeoutMs: number; maxBytes: number },
  ) =>
    forwarder.call({
      method: nodeMethod(method, network.rpc.aliases),
      params: JSON.stringify(params),
      idempotent: true,
      whole: true,
      // One that is behind has older data of a token.
      block: 'tip',
      signal,
      ...limits,
    });
  const { timeoutMs, callTimeoutMs } = network.rpc;
  return {
    async epoch(signal) {
      const limits = { timeoutMs: callTimeoutMs, maxBytes: 1_000 };
      const answer = await ask('core_epochNumber', ['latest_state'], signal, limits);
      const value = answer.kind === 'result' ? parsed(answer.body.bytes) : undefined;
      if (typeof value !== 'string' || !/^0x[0-9a-f]{1,12}$/i.test(value)) {
        throw new NodeTroubleError('no node returned its epoch');
      }
      return Number(value);
    },
    async call(to, data, signal) {
      const limits = { timeoutMs: callTimeoutMs, maxBytes: CALL_BYTES };
      const answer = await ask('core_call', [{ to, data }, 'latest_state'], signal, limits);
      if (answer.kind === 'failed') {
        if (answer.reason === 'too-large') return { tooLarge: true };
        throw new NodeTroubleError(answer.detail);
      }
      if (answer.kind === 'error') {
        if (REVERTS.has(answer.code)) return { reverted: true };
        throw new NodeTroubleError(`a node answered a call with error ${answer.code}`);
      }
      const value = parsed(answer.body.bytes);
      if (typeof value !== 'string') throw new NodeTroubleError('a node answered a call without data');
      return { data: value };
    },
    async logs(filter, signal) {
      const answer = await ask('core_getLogs', [filter], signal, { timeoutMs, maxBytes: LOG_BYTES });
      if (answer.kind === 'error') return null;
      if (answer.kind === 'failed') {
        if (answer.reason === 'too-large' || answer.reason === 'timeout') return null;
        throw new NodeTroubleError(answer.detail);
      }
      const value = parsed(answer.body.bytes);
      if (!Array.isArray(value)) throw new NodeTroubleError('a node answered a log filter without a list');
      return value;
    },
  };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
