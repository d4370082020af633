import { randomBytes } from 'node:crypto';
import { ownerOf } from '../access/address-limiter.js';
import type { Deliveries } from '../filters/deliveries.js';
import {
  CRITERIA_TEXT,
  FILTER_TTL_MS,
  FILTERS_OF_KEY,
  type FilterState,
  type FilterStore,
  filterIdBytes,
  filterIdText,
  settled,
  type ToldBlock,
} from '../filters/filter-state.js';
import type { PendingWatch } from '../filters/pending-watch.js';
import { type Polled, pollBlocks, pollLogs } from '../filters/poll-filter.js';
import { Problem } from '../http/problem.js';
import { failure, linkAt, NodeSaid } from '../rpc/ask-node.js';
import { anything, checkParams, flag, invalidParams } from '../rpc/check-params.js';
import { logFilter, readLogFilter } from '../rpc/log-filter.js';
import type { CallContext, RpcAnswer, RpcMethod } from '../rpc/method.js';
import type { RpcCall } from '../rpc/read-request.js';
import type { LearntRanges } from '../rpc/split-logs.js';

export interface MethodParts {
  filters: FilterStore;
  pending: PendingWatch;
  deliveries: Deliveries;
  /** See Clock. */
  elapsed(): number;
}

type PendingState = Extract<FilterState, { type: 'pending' }>;

/** Tries of a poll: if another poll of the filter wrote first, it starts again from the new state. */
const TRIES = 8;
/** How long a poll waits for the end of another delivery, in milliseconds; what is new comes with the next poll then. */
const PATIENCE_MS = 2_000;
/** Most hashes of pending transactions in one answer; the next poll returns the rest. */
const MAX_PENDING = 10_000;

/** Filters that work across nodes and gateways: their state is in the shared store, never on a node. */
export function filterMethods(parts: MethodParts, getLogs: RpcMethod, learnt: LearntRanges): RpcMethod[] {
  const { filters, deliveries } = parts;

  const make = async (caller: CallContext, state: FilterState): Promise<RpcAnswer> => {
    const id = randomBytes(16);
    const made = await filters.create({
      id,
      network: caller.at.network.id,
      keyId: ownerOf(caller),
      state: JSON.stringify(state),
      ttlMs: FILTER_TTL_MS,
      maxOfKey: FILTERS_OF_KEY,
    });
    if (made) return value(filterIdText(id));
    throw new Problem('too-many-filters', {
      detail: `A key, or an address without one, has ${FILTERS_OF_KEY} filters at most; uninstall those that are not polled any more.`,
      members: { limit: FILTERS_OF_KEY },
    });
  };

  const find = async (caller: CallContext, call: RpcCall) => {
    checkParams(call.params, [anything]);
    const id = filterIdBytes(call.params[0]);
    const row = id === null ? null : await filters.get(id);
    const mine = row?.network === caller.at.network.id && row.keyId === ownerOf(caller);
    if (id === null || row === null || !mine) throw notFound();
    return { id, version: row.version, state: JSON.parse(row.state) as FilterState };
  };

  const poll = (caller: CallContext, state: FilterState): Promise<Polled> => {
    if (state.type === 'logs') return pollLogs(caller, state, learnt);
    if (state.type === 'blocks') return pollBlocks(caller, state);
    return pollPending(caller, state);
  };

  const pollPending = async (caller: CallContext, state: PendingState): Promise<Polled> => {
    parts.pending.wanted();
    const from = state.undelivered?.from ?? state.sequence;
    const seen = await filters.pendingAfter(caller.at.network.id, from, MAX_PENDING);
    if (seen.hashes.length === 0) return { changes: [], state: { type: 'pending', sequence: from } };
    return {
      changes: seen.hashes.map((hash) => JSON.stringify(hash)),
      state: {
        type: 'pending',
        sequence: seen.sequence,
        undelivered: { from, undone: [], until: 0 },
      },
    };
  };

  const method = (name: string, cost: number, handle: RpcMethod['handle']): RpcMethod => ({
    name,
    cost,
    idempotent: false,
    handle: (call, caller) => saidByNode(() => (handle as NonNullable<typeof handle>)(call, caller)),
  });

  return [
    method('eth_newFilter', 5, async (call, caller) => {
      checkParams(call.params, [logFilter]);
      const { fromBlock, toBlock, blockHash, ...match } = readLogFilter(call.params[0]);
      if (blockHash !== undefined)
        throw invalidParams('invalid argument 0: blockHash is not allowed here', 0);
      if (JSON.stringify(match).length > CRITERIA_TEXT) {
        throw invalidParams(
          `invalid argument 0: more than ${CRITERIA_TEXT} characters of addresses and topics`,
          0,
        );
      }
      const bounds = boundsOf(fromBlock ?? 'latest', toBlock ?? 'latest');
      return make(caller, { type: 'logs', match, ...bounds, told: await headOf(caller) });
    }),
    method('eth_newBlockFilter', 5, async (call, caller) => {
      checkParams(call.params, []);
      return make(caller, { type: 'blocks', told: await headOf(caller) });
    }),
    method('eth_newPendingTransactionFilter', 5, async (call, caller) => {
      // geth's second form, whole transactions, is not offered.
      checkParams(call.params, [flag], 0);
      if (call.params[0] === true) throw invalidParams('invalid argument 0: only hashes are given', 0);
      await parts.pending.caughtUp();
      parts.pending.wanted();
      return make(caller, {
        type: 'pending',
        sequence: await filters.newestPending(caller.at.network.id),
      });
    }),
    method('eth_getFilterChanges', 5, async (call, caller) => {
      // A notification has no answer, so it must not consume the changes.
      if (call.id === undefined) return value('[]', true);
      const giveUpAt = performance.now() + PATIENCE_MS;
      for (let tries = 0; tries < TRIES; ) {
        const { id, state, version } = await find(caller, call);
        if (caller.signal.aborted) throw caller.signal.reason;
        if (deliveries.isUnderWay(state)) {
          if (performance.now() > giveUpAt || !(await deliveries.wait(id, caller.whenSent))) break;
          continue;
        }
        tries += 1;
        const polled = await poll(caller, state);
        const answer = value(`[${polled.changes.join(',')}]`, true);
        // Once the cursor has moved, the changes that it passed must be delivered.
        caller.reserve?.(answer.body.bytes.length);
        if (caller.signal.aborted) throw caller.signal.reason;
        const done = settled(polled.state, caller.at.forwarder.finalized() ?? -1);
        const next = caller.whenSent === undefined ? done : deliveries.underWay(polled.state);
        const text = JSON.stringify(next);
        const written = await filters.update({ id, version, state: text, ttlMs: FILTER_TTL_MS });
        if (written === null) continue;
        if (caller.whenSent !== undefined && next.undelivered !== undefined) {
          deliveries.follow({ id, version: written, state: next, done, whenSent: caller.whenSent });
        }
        return answer;
      }
      // Another poll gave the changes, or is about to.
      return value('[]', true);
    }),
    method('eth_getFilterLogs', getLogs.cost, async (call, caller) => {
      const { state } = await find(caller, call);
      if (state.type !== 'logs') throw notFound();
      const [fromBlock, toBlock] = [state.from, state.to].map((number) =>
        number === null ? 'latest' : `0x${number.toString(16)}`,
      );
      const params = [{ ...state.match, fromBlock, toBlock }];
      const asked = { ...call, method: getLogs.name, params, paramsText: JSON.stringify(params) };
      return (getLogs.handle as NonNullable<RpcMethod['handle']>)(asked, caller);
    }),
    method('eth_uninstallFilter', 1, async (call, caller) => {
      checkParams(call.params, [anything]);
      const id = filterIdBytes(call.params[0]);
      const network = caller.at.network.id;
      const gone = id !== null && (await filters.remove({ id, network, keyId: ownerOf(caller) }));
      return value(String(gone), true);
    }),
  ];
}

async function saidByNode(work: () => Promise<RpcAnswer>): Promise<RpcAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NodeSaid) return { kind: 'error', error: error.error };
    throw error;
  }
}

/** A new filter starts after the newest block; with the block before it, a branch that replaces only that one is found. */
async function headOf(caller: CallContext): Promise<ToldBlock[]> {
  const head = await linkAt(caller, 'latest');
  if (head === null) throw failure({ reason: 'unavailable', detail: 'no node has a block' });
  const { number, hash, parentHash } = head;
  return [...(number === 0 ? [] : [{ number: number - 1, hash: parentHash }]), { number, hash }];
}

/** latest..latest, N..M and N..latest; geth refuses others as well (eth/filters/api.go). */
function boundsOf(from: string, to: string): { from: number | null; to: number | null } {
  const number = (block: string): number | null => {
    if (block === 'latest') return null;
    if (block === 'earliest') return 0;
    return block.startsWith('0x') ? Number(block) : Number.NaN;
  };
  const bounds = { from: number(from), to: number(to) };
  const backwards = bounds.to !== null && (bounds.from === null || bounds.from > bounds.to);
  if (Number.isNaN(bounds.from) || Number.isNaN(bounds.to) || backwards) {
    throw invalidParams('invalid block range params', 0);
  }
  return bounds;
}

function notFound(): Problem {
  return new Problem('filter-unknown', { detail: 'filter not found' });
}

function value(text: string, raw = false): Extract<RpcAnswer, { kind: 'result' }> {
  return { kind: 'result', body: { bytes: Buffer.from(raw ? text : JSON.stringify(text)), rest: null } };
}
