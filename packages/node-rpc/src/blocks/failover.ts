import { type Clock, getOrAdd, heavier, PackhouseError, type Scope, untilAborted } from '@packhouse/runtime';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { ByteLease } from '../calls/byte-budget.js';
import { chooseNode, type FetchRequest, offers } from '../heads/choose-node.js';
import type { Use } from '../spending/budget-rule.js';
import type { Account } from '../spending/spending.js';
import type { Fault } from '../upstream/fault.js';
import type { FailedBlock, FetchedBlock } from './block-source.js';
import { fetchFromNode } from './from-node.js';

/** Tries per upstream for the same blocks. */
const TRIES = 3;
/** A rate limit says nothing about the blocks, so it allows more tries. */
const RATE_LIMITED_TRIES = 10;
const INITIAL_BACK_OFF_MS = 200;
const MAX_BACK_OFF_MS = 5_000;
/** How long blocks wait while all upstreams rest. */
const REST_PATIENCE_MS = 5_000;
/** How long a patient fetch waits: longer than the longest rest of an upstream (`circuit.ts`). */
const LONG_REST_PATIENCE_MS = 35_000;
/** How long blocks wait for an upstream that asked for a pause: it is alive. */
const PAUSE_PATIENCE_MS = 60_000;

/** Options of a fetch with failover. */
interface FailoverOptions {
  nodes: readonly BatchUpstream[];
  clock: Clock;
  network: string;
  request: FetchRequest;
  avoid?: readonly string[];
  /** Waits for upstreams that rest, however long their rest. */
  patient?: boolean;
  account?: Account;
  scope: Scope;
  lease?: ByteLease;
  /** Called once for every block, as soon as its outcome is known. */
  settle: (block: FetchedBlock | FailedBlock) => void;
}

/**
 * Fetches blocks. Tries each upstream a bounded number of times, then the next by priority and health.
 * Every block is settled, as fetched or as failed. Rejects only when aborted.
 */
export async function fetchWithFailover(numbers: readonly number[], options: FailoverOptions): Promise<void> {
  const { clock, nodes, scope, settle, request } = options;
  const { signal } = scope;
  const use = options.account?.use ?? 'urgent';
  const restPatienceMs = options.patient === true ? LONG_REST_PATIENCE_MS : REST_PATIENCE_MS;
  const tries = new Map<string, number>();
  const rateLimited = new Map<string, number>();
  const exhausted = new Set<string>();
  const avoid = new Set(options.avoid ?? []);
  const asked = new Set<string>();
  const errors = new Map<number, Error>();
  const faultsByBlock = new Map<number, Map<string, Error>>();
  let pending = [...numbers];

  const fail = (number: number, error: Error): void => {
    const known = faultsByBlock.get(number) ?? new Map<string, Error>();
    const faults = [...known].map(([upstream, fault]) => ({ upstream, error: fault }));
    settle({ number, error, upstreams: [...asked], faults });
  };
  const countTry = (node: BatchUpstream): number => {
    const count = (tries.get(node.name) ?? 0) + 1;
    tries.set(node.name, count);
    if (count >= TRIES) exhausted.add(node.name);
    return count;
  };

  while (pending.length > 0) {
    signal.throwIfAborted();
    const need = { block: pending[pending.length - 1] as number, request, avoid, exhausted, use };
    const node = chooseNode(nodes, need);
    // An upstream that is ready is used without waiting a turn of the event loop, so that its load is correct when the
    // next group starts.
    const ready =
      node !== null &&
      (node.waitMs(use) === 0 || (await isReady(node, { clock, signal, restPatienceMs, use })));
    if (node === null || !ready) {
      if (node !== null && chooseNode(nodes, need) !== node) continue;
      const throttled = node?.spending.refusal(use)?.error;
      const known = node?.lastFault?.error ?? buildNoUpstreamError(options);
      for (const number of pending) {
        const error = errors.get(number);
        fail(number, throttled === undefined ? (error ?? known) : heavier(error, throttled));
      }
      return;
    }
    asked.add(node.name);
    const probe = node.circuit.enter();
    let faults: Fault[];
    try {
      const { account, lease } = options;
      const outcomes = await fetchFromNode(node, pending, request, { scope, account, lease });
      pending = [];
      faults = [];
      for (const outcome of outcomes) {
        if (outcome.ok) {
          settle(outcome.fetched);
          continue;
        }
        const { fault, number } = outcome;
        const ofNodes = getOrAdd(faultsByBlock, number, () => new Map<string, Error>());
        ofNodes.set(node.name, heavier(ofNodes.get(node.name), fault.error));
        const error = heavier(errors.get(number), fault.error);
        if (fault.action === 'give-up') fail(number, error);
        else {
          errors.set(number, error);
          faults.push(fault);
          pending.push(number);
        }
      }
    } finally {
      probe.leave();
    }
    if (pending.length === 0) return;

    // The next round finds that it may not be asked.
    if (node.spending.refusal(use) !== null) continue;
    if (faults.every((fault) => fault.error.code === 'NODE_RATE_LIMITED')) {
      // The upstream sets the length of the pause (see isReady); only the number of pauses is bounded here.
      const count = (rateLimited.get(node.name) ?? 0) + 1;
      rateLimited.set(node.name, count);
      if (count >= RATE_LIMITED_TRIES) exhausted.add(node.name);
      continue;
    }
    if (faults.every((fault) => fault.error.code === 'NODE_METHOD_MISSING')) {
      if (!offers(node, request)) exhausted.add(node.name);
    }
    const count = countTry(node);
    if (faults.some((fault) => fault.action === 'elsewhere')) avoid.add(node.name);
    const next = chooseNode(nodes, { ...need, avoid, exhausted });
    if (next === node) {
      const backOff = Math.min(MAX_BACK_OFF_MS, INITIAL_BACK_OFF_MS * 2 ** (count - 1));
      await clock.sleep(backOff * (0.5 + Math.random() / 2), signal);
    }
  }
}

/** Fetches one block as `fetchWithFailover` does. Throws what says most about it. */
export async function fetchOne(
  number: number,
  options: Omit<FailoverOptions, 'settle'>,
): Promise<FetchedBlock> {
  const settled: (FetchedBlock | FailedBlock)[] = [];
  await fetchWithFailover([number], { ...options, settle: (block) => settled.push(block) });
  const [block] = settled as [FetchedBlock | FailedBlock];
  if ('error' in block) throw block.error;
  return block;
}

/**
 * Waits until an upstream may be asked. False if that takes too long, or if the upstream came back from its rest and
 * failed again.
 */
async function isReady(
  node: BatchUpstream,
  limits: { clock: Clock; signal: AbortSignal; restPatienceMs: number; use: Use },
): Promise<boolean> {
  const { clock, signal, restPatienceMs, use } = limits;
  // Not whether it is open after a wait: a timer may fire before its time, as the event loop's clock stands still.
  const { openings } = node.circuit;
  for (;;) {
    const waitMs = node.waitMs(use);
    if (waitMs === 0) return true;
    if (node.excluded) return false;
    const resting = node.circuit.state !== 'closed';
    if (node.circuit.state === 'open' && node.circuit.openings !== openings) return false;
    if (waitMs === Number.POSITIVE_INFINITY) {
      await untilAborted(node.circuit.settled(), signal);
      continue;
    }
    if (waitMs > (resting ? restPatienceMs : PAUSE_PATIENCE_MS)) return false;
    await clock.sleep(Math.ceil(waitMs), signal);
  }
}

function buildNoUpstreamError(options: FailoverOptions): PackhouseError {
  const exclusion = options.nodes.find((node) => node.exclusion !== null)?.exclusion;
  const able = options.nodes.some((node) => !node.excluded && offers(node, options.request));
  if (exclusion && !able) return exclusion;
  return new PackhouseError({
    code: able ? 'NODE_UNREACHABLE' : 'NODE_METHOD_MISSING',
    message: able
      ? `No upstream of ${options.network} can be asked now.`
      : `No upstream of ${options.network} offers the methods for what is requested.`,
    hint: able ? undefined : 'Add a node with eth_getBlockReceipts and trace_block (or the debug namespace).',
  });
}
