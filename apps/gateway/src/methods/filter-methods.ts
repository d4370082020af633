import { randomBytes } from 'node:crypto';
import { toQuantity } from '@packhouse/chain';
import { getOwner } from '../access/address-limiter.js';
import type { Deliveries } from '../filters/deliveries.js';
import {
  CRITERIA_TEXT,
  FILTER_TTL_MS,
  FILTERS_OF_KEY,
  type FilterState,
  type FilterStore,
  filterIdBytes,
  filterIdText,
  markDelivered,
  type PendingState,
  type ReportedBlock,
} from '../filters/filter-state.js';
import type { PendingWatch } from '../filters/pending-watch.js';
import { type PollResult, pollBlocks, pollLogs } from '../filters/poll-filter.js';
import { Problem } from '../http/problem.js';
import { failure, linkAt } from '../rpc/ask-node.js';
import { anything, checkParams, flag, invalidParams } from '../rpc/check-params.js';
import { logFilter, readLogFilter } from '../rpc/log-filter.js';
import { requireLogRange } from '../rpc/log-range.js';
import { type CallContext, type RpcAnswer, type RpcMethod, toResult } from '../rpc/method.js';
import type { RpcCall } from '../rpc/read-request.js';
import type { RangeLimit } from '../rpc/split-logs.js';
import { readAddresses, readRange } from './eth-get-logs.js';

export interface MethodParts {
  filters: FilterStore;
  pending: PendingWatch;
  deliveries: Deliveries;
  /** See Clock. */
  elapsed(): number;
}

/** Tries of a poll: if another poll of the filter wrote first, it starts again from the new state. */
const TRIES = 8;
/** How long a poll waits for the end of another delivery, in milliseconds; what is new comes with the next poll then. */
const PATIENCE_MS = 2_000;
/** Most hashes of pending transactions in one answer; the next poll returns the rest. */
const MAX_PENDING = 10_000;

/** Filters that work across nodes and gateways: their state is in the shared store, never on a node. */
export function filterMethods(parts: MethodParts, getLogs: RpcMethod, limit: RangeLimit): RpcMethod[] {
  const { filters } = parts;

  type Handle = NonNullable<RpcMethod['handle']>;
  const method = (name: string, cost: number, handle: Handle): RpcMethod => ({
    name,
    cost,
    idempotent: false,
    // A filter belongs to the key that made it, for the contracts that the key allows.
    contracts: 'none',
    handle,
  });

  return [
    {
      ...method('eth_newFilter', 5, async (call, caller) => {
        checkParams(call.params, [logFilter]);
        const { fromBlock, toBlock, blockHash, ...match } = readLogFilter(call.params[0]);
        if (blockHash !== undefined)
          throw invalidParams('invalid argument 0: blockHash is not allowed here', 0);
        if (JSON.stringify(match).length > CRITERIA_TEXT) {
          const most = `more than ${CRITERIA_TEXT} characters of addresses and topics`;
          throw invalidParams(`invalid argument 0: ${most}`, 0);
        }
        const bounds = getBounds(fromBlock ?? 'latest', toBlock ?? 'latest');
        return createFilter(filters, caller, {
          type: 'logs',
          match,
          ...bounds,
          reported: await getHead(caller),
        });
      }),
      contracts: readAddresses,
      getLogRange: readRange,
    },
    method('eth_newBlockFilter', 5, async (call, caller) => {
      checkParams(call.params, []);
      return createFilter(filters, caller, { type: 'blocks', reported: await getHead(caller) });
    }),
    method('eth_newPendingTransactionFilter', 5, async (call, caller) => {
      // geth's second form, whole transactions, is not offered.
      checkParams(call.params, [flag], 0);
      if (call.params[0] === true) throw invalidParams('invalid argument 0: only hashes are returned', 0);
      await parts.pending.sync();
      parts.pending.keepWatching();
      return createFilter(filters, caller, {
        type: 'pending',
        sequence: await filters.newestPending(caller.network.config.id),
      });
    }),
    method('eth_getFilterChanges', 5, (call, caller) => getFilterChanges(parts, limit, call, caller)),
    method('eth_getFilterLogs', getLogs.cost, async (call, caller) => {
      const { state } = await findFilter(filters, caller, call);
      if (state.type !== 'logs') throw notFound();
      const [fromBlock, toBlock] = [state.from, state.to].map((number) =>
        number === null ? 'latest' : toQuantity(number),
      );
      const params = [{ ...state.match, fromBlock, toBlock }];
      await requireLogRange({ fromBlock, toBlock }, caller);
      const request = { ...call, method: getLogs.name, params, paramsText: JSON.stringify(params) };
      return (getLogs.handle as Handle)(request, caller);
    }),
    method('eth_uninstallFilter', 1, async (call, caller) => {
      checkParams(call.params, [anything]);
      const id = filterIdBytes(call.params[0]);
      const network = caller.network.config.id;
      const removed = id !== null && (await filters.remove({ id, network, keyId: getOwner(caller) }));
      return toResult(String(removed));
    }),
  ];
}

async function createFilter(
  filters: FilterStore,
  caller: CallContext,
  state: FilterState,
): Promise<RpcAnswer> {
  const id = randomBytes(16);
  const made = await filters.create({
    id,
    network: caller.network.config.id,
    keyId: getOwner(caller),
    state: JSON.stringify(state),
    ttlMs: FILTER_TTL_MS,
    maxOfKey: FILTERS_OF_KEY,
  });
  if (made) return toResult(`"${filterIdText(id)}"`);
  throw new Problem('too-many-filters', {
    detail: `A key, or an address without one, may have ${FILTERS_OF_KEY} filters; uninstall those that are no longer polled.`,
    members: { limit: FILTERS_OF_KEY },
  });
}

/** The filter that a call names. Throws the problem `filter-unknown`. */
async function findFilter(filters: FilterStore, caller: CallContext, call: RpcCall) {
  checkParams(call.params, [anything]);
  const id = filterIdBytes(call.params[0]);
  const row = id === null ? null : await filters.get(id);
  const mine = row?.network === caller.network.config.id && row.keyId === getOwner(caller);
  if (id === null || row === null || !mine) throw notFound();
  return { id, version: row.version, state: JSON.parse(row.state) as FilterState };
}

async function getFilterChanges(
  parts: MethodParts,
  limit: RangeLimit,
  call: RpcCall,
  caller: CallContext,
): Promise<RpcAnswer> {
  // A notification has no answer, so it must not consume the changes.
  if (call.id === undefined) return toResult('[]');
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let tries = 0; tries < TRIES; ) {
    const { id, state, version } = await findFilter(parts.filters, caller, call);
    if (caller.signal.aborted) throw caller.signal.reason;
    if (parts.deliveries.isLeased(state)) {
      if (performance.now() > giveUpAt || !(await parts.deliveries.wait(id, caller.whenSent))) break;
      continue;
    }
    tries += 1;
    const polled = await pollFilter(parts, limit, caller, state);
    const answer = toResult(`[${polled.changes.join(',')}]`);
    // Once the cursor has moved, the changes that it passed must be delivered.
    caller.reserve?.(answer.body.bytes.length);
    if (caller.signal.aborted) throw caller.signal.reason;
    const done = markDelivered(polled.state, caller.network.forwarder.finalized() ?? -1);
    const next = caller.whenSent === undefined ? done : parts.deliveries.lease(polled.state);
    const text = JSON.stringify(next);
    const written = await parts.filters.update({ id, version, state: text, ttlMs: FILTER_TTL_MS });
    if (written === null) continue;
    if (caller.whenSent !== undefined && next.undelivered !== undefined) {
      parts.deliveries.track({ id, version: written, state: next, done, whenSent: caller.whenSent });
    }
    return answer;
  }
  // Another poll gave the changes, or is about to.
  return toResult('[]');
}

function pollFilter(
  parts: MethodParts,
  limit: RangeLimit,
  caller: CallContext,
  state: FilterState,
): Promise<PollResult> {
  if (state.type === 'logs') return pollLogs(caller, state, limit);
  if (state.type === 'blocks') return pollBlocks(caller, state);
  return pollPending(parts, caller, state);
}

async function pollPending(
  parts: MethodParts,
  caller: CallContext,
  state: PendingState,
): Promise<PollResult> {
  parts.pending.keepWatching();
  const from = state.undelivered?.from ?? state.sequence;
  const seen = await parts.filters.pendingAfter(caller.network.config.id, from, MAX_PENDING);
  if (seen.hashes.length === 0) return { changes: [], state: { type: 'pending', sequence: from } };
  const undelivered = { from, removed: [], until: 0 };
  return {
    changes: seen.hashes.map((hash) => JSON.stringify(hash)),
    state: { type: 'pending', sequence: seen.sequence, undelivered },
  };
}

/** A new filter starts after the newest block; with the block before it, a branch that replaces only that one is found. */
async function getHead(caller: CallContext): Promise<ReportedBlock[]> {
  const head = await linkAt(caller, 'latest');
  if (head === null) throw failure({ reason: 'unavailable', detail: 'no node has any block' });
  const { number, hash, parentHash } = head;
  return [...(number === 0 ? [] : [{ number: number - 1, hash: parentHash }]), { number, hash }];
}

/** latest..latest, N..M and N..latest; geth refuses others as well (eth/filters/api.go). */
function getBounds(from: string, to: string): { from: number | null; to: number | null } {
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
