import { isBudgetError, type PackhouseError, untilAborted } from '@packhouse/runtime';
import type { Use } from '../spending/budget-rule.js';
import { type Fault, makeFault } from '../upstream/fault.js';
import type { Upstream } from '../upstream/upstream.js';
import type { BatchSizes } from './batch-sizes.js';
import { type Answer, type Call, type CallContext, failAll, toAsked } from './call.js';
import type { InFlightLimit } from './in-flight-limit.js';

/** What running batches needs of an upstream. */
interface BatchSender extends Upstream {
  readonly sizes: BatchSizes;
  readonly limit: InFlightLimit;
  lastFault: Fault | null;
  sendBatch(calls: readonly Call[], context: CallContext, release: () => void): Promise<Answer[]>;
}

/**
 * Sends calls of one method in batches of a size that works at this upstream, each as its budget, circuit and limit of
 * requests in flight allow; what a batch was too large for is sent again in smaller ones. Rejects only when aborted.
 */
export async function runBatches(
  upstream: BatchSender,
  calls: readonly Call[],
  context: CallContext,
  mayCall: (calls: number) => boolean,
): Promise<Answer[]> {
  const { circuit, limit, sizes, spending } = upstream;
  const { signal } = context.scope;
  const subject = calls[0]?.learnedAs ?? calls[0]?.method ?? '';
  const use: Use = context.urgent === true ? 'urgent' : (context.account?.use ?? 'urgent');
  const answers = new Array<Answer>(calls.length);
  const positions = new Map(calls.map((call, index) => [call, index]));

  /** Sends as many calls of the batch as their allowance grants, if they have one. */
  const sendAllowed = async (batch: readonly Call[], release: () => void): Promise<Answer[]> => {
    const { allowance } = context.account ?? {};
    if (allowance === undefined) return send(batch, release, () => undefined);
    const allowed = await allowance.take(batch.length).catch(toThrottledFault);
    if (typeof allowed !== 'number') return failAll(batch, allowed);
    let sent = 0;
    const noteSent = (calls: number): void => {
      sent = calls;
    };
    try {
      return await send(batch.slice(0, allowed), release, noteSent);
    } finally {
      await allowance.giveBack(allowed - sent).catch(() => undefined);
    }
  };
  /** Sends as many calls of the batch as the budget grants. */
  const send = async (
    batch: readonly Call[],
    release: () => void,
    onSent: (calls: number) => void,
  ): Promise<Answer[]> => {
    signal.throwIfAborted();
    const taken = spending.take(batch[0]?.method ?? '', batch.length, use, signal);
    const granted =
      taken === batch.length
        ? taken
        : await Promise.resolve(taken).catch((error: unknown) => toThrottledFault(error));
    if (typeof granted !== 'number') return failAll(batch, granted);
    const paid = batch.slice(0, granted);
    // Calls that were queued while the upstream failed are not sent.
    if (circuit.state === 'open' && upstream.lastFault !== null) {
      return failAll(paid, toRestingFault(upstream, paid, upstream.lastFault));
    }
    if (!mayCall(paid.length)) return failAll(paid, toSpentFault(upstream, paid));
    const probe = circuit.enter();
    onSent(paid.length);
    return upstream.sendBatch(paid, context, release).finally(probe.leave);
  };
  const runBatch = async (batch: readonly Call[]): Promise<void> => {
    const sent =
      context.urgent === true
        ? sendAllowed(batch, () => undefined)
        : limit.run((release) => sendAllowed(batch, release));
    const got = await untilAborted(sent, signal);
    const again: Call[] = batch.slice(got.length);
    for (const [index, answer] of got.entries()) {
      const call = batch[index] as Call;
      answers[positions.get(call) as number] = answer;
      if (!answer.ok && answer.fault.action === 'shrink' && got.length > 1) again.push(call);
    }
    const first = again[0] === undefined ? undefined : answers[positions.get(again[0]) as number];
    const rateLimited = first?.ok === false && first.fault.error.code === 'NODE_RATE_LIMITED';
    // The caller decides when to continue after a rate limit or while the upstream rests.
    if (again.length === 0 || rateLimited || circuit.state !== 'closed') return;
    await runAll(again);
  };
  const runAll = async (some: readonly Call[]): Promise<void> => {
    await Promise.all(sizes.plan(subject, some).map(runBatch));
  };
  await runAll(calls);
  return answers;
}

/** The fault of calls that are not sent at all. */
export function toNotAskedFault(error: PackhouseError): Fault {
  const happened = 'is not asked for now';
  return { error, happened, action: 'elsewhere', weighs: false, refusesParams: false, pauseMs: 0 };
}

/** The fault of calls that a budget throttles; rethrows any other error. */
function toThrottledFault(error: unknown): Fault {
  if (!isBudgetError(error)) throw error;
  return toNotAskedFault(error);
}

function toRestingFault({ label }: BatchSender, calls: readonly Call[], { error, happened }: Fault): Fault {
  const since = `${happened}, and rests since,`;
  return makeFault(toAsked(label, calls), error.code, since, 'here', { cause: error });
}

function toSpentFault({ label }: BatchSender, calls: readonly Call[]): Fault {
  const happened = 'was not called again, as the calls that this command may make are spent,';
  return makeFault(toAsked(label, calls), 'CALLS_SPENT', happened, 'give-up');
}
