import type { Upstream as Configured, Network } from '@packhouse/networks';
import { type Context, isBudgetError, PackhouseError, type Scope, untilAborted } from '@packhouse/runtime';
import { type Use, windowOf } from '../spending/budget-rule.js';
import { type Account, NOBODY, type Spending } from '../spending/spending.js';
import { type Fault, makeFault, transportFault } from '../upstream/fault.js';
import type { HttpAnswer } from '../upstream/http.js';
import type { NodeLabel } from '../upstream/label.js';
import type { CallMetrics } from '../upstream/metrics.js';
import { quantity } from '../upstream/questions.js';
import { createUpstream, type Upstream } from '../upstream/upstream.js';
import { readHttpAnswer, writeRequest } from './answers.js';
import { type BatchSizes, createBatchSizes } from './batch-sizes.js';
import type { ByteLease } from './byte-budget.js';
import { type Answer, type Call, describeCalls } from './call.js';
import { type Capabilities, createCapabilities } from './capabilities.js';
import { createInFlightLimit, type InFlightLimit } from './in-flight-limit.js';

/** The context of a call. */
export interface CallContext {
  scope: Scope;
  /** The share of the byte budget that the answers use. */
  lease?: ByteLease | undefined;
  /** A small call whose answer is needed now: ignores the limit of requests in flight. */
  urgent?: boolean;
  /** Whom it is for; default: nobody. */
  account?: Account | undefined;
}

/** An upstream that blocks are fetched from, with all that was learned about it. */
export interface UpstreamNode extends Upstream {
  readonly capabilities: Capabilities;
  readonly sizes: BatchSizes;
  readonly limit: InFlightLimit;
  /** Its client version; null until known. */
  client: string | null;
  /** Why it is never asked: another chain, or a cordon. */
  excluded: PackhouseError | null;
  /** It was unreachable, so another node may answer now: it is asked for its chain id before anything else. */
  chainDoubtful: boolean;
  /** Its head when it was last known to be on the right branch, and when that was asked. */
  confirmed: { hash: string; at: number } | null;
  /** It has another block in place of a final one: asked last. */
  offChain: boolean;
  /** It failed a proof: asked last until this time, in the clock's milliseconds. */
  distrustedUntil: number;
  lastFault: Fault | null;
  requests: number;
  errors: number;
  /**
   * Milliseconds until it may be asked; 0 now, Infinity while the one probe of an open circuit is in flight. `use`: of
   * its provider's budget.
   */
  waitMs(use?: Use): number;
  /**
   * Asks for the chain id, once for all callers at the same time; null if it is the network's. An upstream of another
   * chain is excluded, one that does not answer stays doubtful.
   */
  askChain(scope: Scope): Promise<Fault | null>;
  /** Takes it out, or puts it back: then it is asked for its chain first. */
  cordon(is: boolean): void;
  /** Sends calls of one method, in batches of a size that works here. Rejects only when aborted. */
  callAll(calls: readonly Call[], context: CallContext): Promise<Answer[]>;
}

interface UpstreamNodeOptions {
  upstream: Configured;
  network: Network;
  context: Context;
  metrics: CallMetrics;
  spending?: Spending | undefined;
  maxBodyBytes: number;
  timeoutMs: number;
  /** Whether so many more calls may be sent; true counts them as sent. */
  mayCall: (calls: number) => boolean;
  /** Called whenever more requests are allowed than before. */
  onRoom: () => void;
}

const START_IN_FLIGHT = 4;

/** Opens one upstream. */
export function createUpstreamNode(options: UpstreamNodeOptions): UpstreamNode {
  const { context, maxBodyBytes, metrics, timeoutMs, upstream } = options;
  const { clock } = context;
  const { name, requestsPerSecond: perSecond } = upstream;
  const self = createUpstream({
    upstream,
    network: options.network,
    context,
    spending: options.spending,
    timeoutMs,
    onRest: (rests) => {
      if (rests) node.chainDoubtful = true;
    },
  });
  const { circuit, http, label, pause, recent, spending } = self;
  const limit = createInFlightLimit({
    start: START_IN_FLIGHT,
    max: Math.max(1, upstream.maxInFlight),
    onChange: (value) => {
      metrics.inFlightLimit(name, value);
      options.onRoom();
    },
  });
  metrics.inFlightLimit(name, limit.limit);
  let nextId = 1;

  const noteFault = (fault: Fault, subject: string, calls: number, startedAt: number): void => {
    const { code } = fault.error;
    node.lastFault = fault;
    if (fault.weighs) self.failed(fault.error);
    pause.ask(fault, startedAt);
    if (
      code === 'NODE_RATE_LIMITED' ||
      code === 'NODE_TIMEOUT' ||
      (fault.weighs && code !== 'NODE_UNAUTHORIZED')
    ) {
      limit.strained(startedAt);
    }
    if (fault.action === 'shrink' && calls > 1) node.sizes.tooMuch(subject, calls);
  };

  const refuse = async (calls: readonly Call[], fault: Fault): Promise<Answer[]> => {
    const { code } = fault.error;
    const asked = { label, what: describeCalls(calls), block: calls[0]?.block };
    const again = makeFault(asked, code, `${fault.happened}, and rests since,`, 'here', {
      cause: fault.error,
    });
    return calls.map(() => ({ ok: false, fault: again }));
  };

  const spent = async (calls: readonly Call[]): Promise<Answer[]> => {
    const asked = { label, what: describeCalls(calls), block: calls[0]?.block };
    const fault = makeFault(
      asked,
      'CALLS_SPENT',
      'was not called again, as the calls that this command may make are spent,',
      'give-up',
    );
    return calls.map(() => ({ ok: false, fault }));
  };

  /** One HTTP request. Rejects only when aborted. */
  const request = async (
    calls: readonly Call[],
    { account = NOBODY, lease, scope }: CallContext,
    release: () => void,
  ): Promise<Answer[]> => {
    const { signal } = scope;
    const asked = { label, what: describeCalls(calls), block: calls[0]?.block };
    const method = calls[0]?.method ?? '';
    const subject = calls[0]?.learnedAs ?? method;
    const firstId = nextId;
    nextId += calls.length;
    const startedAt = performance.now();
    node.requests += calls.length;
    spending.sent(method, calls.length, account);
    let answer: HttpAnswer;
    try {
      answer = await http.post(writeRequest(calls, firstId), {
        signal,
        maxBytes: maxBodyBytes,
        came: (bytes) => {
          metrics.bytes(name, bytes);
          spending.received(method, bytes, account);
          const room = lease?.came(bytes, signal);
          if (room !== undefined) release();
          return room;
        },
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const fault = transportFault(error, asked, calls.length);
      noteFault(fault, subject, calls.length, startedAt);
      metrics.calls(name, method, fault.error.code, calls.length);
      recent.called(method, fault.error.code, calls.length);
      node.errors += calls.length;
      return calls.map((): Answer => ({ ok: false, fault }));
    }
    const elapsedMs = performance.now() - startedAt;
    metrics.took(name, method, elapsedMs / 1_000);
    recent.answered(method, elapsedMs);
    self.answeredAfter(elapsedMs);
    // The next request may be sent while this answer is parsed.
    release();

    const answers = await readHttpAnswer(answer, calls, {
      label,
      scope,
      firstId,
      maxBodyBytes,
      timeoutMs,
      now: clock.now(),
      foundLate: (fault) => noteFault(fault, subject, 1, startedAt),
    });
    const faults = new Set(answers.flatMap((answer) => (answer.ok ? [] : [answer.fault])));
    for (const answer of answers) {
      if (!answer.ok) node.errors += 1;
      const outcome = answer.ok ? 'ok' : answer.fault.error.code;
      metrics.calls(name, method, outcome, 1);
      recent.called(method, outcome, 1);
    }
    if (faults.size === 0) {
      pause.over();
      node.sizes.succeeded(subject, {
        calls: calls.length,
        weight: calls.reduce((sum, call) => sum + call.weight, 0),
        bytes: answers.reduce((sum, answer) => sum + (answer.ok ? answer.bytes : 0), 0),
        elapsedMs,
      });
      // After the sizes: more room starts more requests at once, of the size that was just learned.
      limit.succeeded(subject, elapsedMs);
    }
    const worst = [...faults].find((fault) => fault.action === 'shrink') ?? [...faults][0];
    if (worst !== undefined) noteFault(worst, subject, calls.length, startedAt);
    if (worst?.weighs !== true) circuit.succeeded();
    return answers;
  };

  const askChain = async (scope: Scope): Promise<Fault | null> => {
    const [answer] = await node.callAll([CHAIN_ID_CALL], { scope });
    const fault = answer === undefined ? null : checkChainId(label, options.network, answer);
    if (!node.cordoned) node.excluded = fault?.error.code === 'NODE_WRONG_CHAIN' ? fault.error : null;
    node.chainDoubtful = fault !== null;
    return fault;
  };
  const node: UpstreamNode = Object.assign(self, {
    capabilities: createCapabilities(clock),
    sizes: createBatchSizes({
      clock,
      ...(perSecond === undefined ? {} : { largest: windowOf(perSecond).units }),
    }),
    limit,
    client: null,
    excluded: null,
    chainDoubtful: false,
    confirmed: null,
    offChain: false,
    distrustedUntil: 0,
    lastFault: null,
    requests: 0,
    errors: 0,
    waitMs: (use: Use = 'urgent') => {
      if (node.excluded !== null) return Number.POSITIVE_INFINITY;
      return Math.max(circuit.waitMs(), pause.waitMs(), spending.refusal(use)?.waitMs ?? 0);
    },
    askChain: shareQuestion(askChain),
    cordon: (is: boolean) => {
      node.cordoned = is;
      node.excluded = is ? cordonError(options.network, label) : null;
      // Another node may answer after maintenance.
      node.chainDoubtful = true;
    },
    callAll: async (calls: readonly Call[], callContext: CallContext) => {
      const { signal } = callContext.scope;
      if (node.cordoned) {
        const fault = notAsked(cordonError(options.network, label));
        return calls.map((): Answer => ({ ok: false, fault }));
      }
      if (node.chainDoubtful && calls[0] !== CHAIN_ID_CALL) {
        const fault = await untilAborted(node.askChain(callContext.scope), signal);
        if (fault !== null) return calls.map((): Answer => ({ ok: false, fault }));
      }
      const subject = calls[0]?.learnedAs ?? calls[0]?.method ?? '';
      const answers = new Array<Answer>(calls.length);
      const positions = new Map(calls.map((call, index) => [call, index]));

      const use: Use = callContext.urgent === true ? 'urgent' : (callContext.account?.use ?? 'urgent');

      const runBatch = async (batch: readonly Call[]): Promise<void> => {
        let paid = batch;
        const send = async (release: () => void): Promise<Answer[]> => {
          signal.throwIfAborted();
          const taken = spending.take(batch[0]?.method ?? '', batch.length, use, signal);
          if (taken !== batch.length) {
            const granted = await Promise.resolve(taken).catch((error: unknown) => keptBack(error));
            if (typeof granted !== 'number') return batch.map((): Answer => ({ ok: false, fault: granted }));
            paid = batch.slice(0, granted);
          }
          // Calls that were queued while the upstream failed are not sent.
          if (circuit.state === 'open' && node.lastFault !== null) return refuse(paid, node.lastFault);
          if (!options.mayCall(paid.length)) return spent(paid);
          const probe = circuit.enter();
          return request(paid, callContext, release).finally(probe.leave);
        };
        const sent = callContext.urgent === true ? send(() => undefined) : limit.run(send);
        const got = await untilAborted(sent, signal);
        const again: Call[] = batch.slice(paid.length);
        for (const [index, answer] of got.entries()) {
          const call = paid[index] as Call;
          answers[positions.get(call) as number] = answer;
          if (!answer.ok && answer.fault.action === 'shrink' && paid.length > 1) again.push(call);
        }
        const first = again[0] === undefined ? undefined : answers[positions.get(again[0]) as number];
        const rateLimited = first?.ok === false && first.fault.error.code === 'NODE_RATE_LIMITED';
        // The caller decides when to continue after a rate limit or while the upstream rests.
        if (again.length === 0 || rateLimited || circuit.state !== 'closed') return;
        await runAll(again);
      };
      const runAll = async (some: readonly Call[]): Promise<void> => {
        await Promise.all(node.sizes.plan(subject, some).map(runBatch));
      };
      await runAll(calls);
      return answers;
    },
  });
  return node;
}

function cordonError(network: Pick<Network, 'id'>, label: NodeLabel): PackhouseError {
  return new PackhouseError({
    code: 'NODE_UNREACHABLE',
    message: `Node ${label.text} of ${network.id} is cordoned by an operator.`,
    hint: `\`packhouse nodes list\` says why; \`packhouse nodes uncordon ${network.id} ${label.name}\` ends it.`,
    data: { upstream: label.name },
  });
}

/** Shares one request among all callers at the same time. Rejects only when the caller is aborted. */
function shareQuestion<T>(ask: (scope: Scope) => Promise<T>): (scope: Scope) => Promise<T> {
  let asking: Promise<T> | undefined;
  const shared = (scope: Scope): Promise<T> => {
    asking ??= ask(scope).finally(() => {
      asking = undefined;
    });
    // The first caller may have been aborted: that is no answer for the others.
    return asking.catch(() => {
      scope.signal.throwIfAborted();
      return shared(scope);
    });
  };
  return shared;
}

/** The fault of calls that a budget keeps back; rethrows any other error. */
function keptBack(error: unknown): Fault {
  if (!isBudgetError(error)) throw error;
  return notAsked(error);
}

function notAsked(error: PackhouseError): Fault {
  const fault = { happened: 'is not asked for now', action: 'elsewhere', weighs: false } as const;
  return { ...fault, error, refusesParams: false, pauseMs: 0 };
}

/** The first call to every upstream of this network. */
const CHAIN_ID_CALL: Call = { method: 'eth_chainId', params: [], weight: 1, learnedAs: 'chain id' };

/** The fault of an answer to eth_chainId; null if it is the network's. */
function checkChainId(label: NodeLabel, network: Network, answer: Answer): Fault | null {
  if (!answer.ok) return answer.fault;
  const asked = { label, what: 'eth_chainId' };
  const chainId = quantity(answer.value);
  if (chainId === null) {
    const got = label.quote(JSON.stringify(answer.value) ?? '');
    return makeFault(asked, 'NODE_ANSWER_INVALID', `answered ${got}, which is no chain id,`, 'elsewhere');
  }
  if (chainId === network.chainId) return null;
  const happened = `serves chain ${chainId} and not ${network.chainId}, as it says`;
  return makeFault(asked, 'NODE_WRONG_CHAIN', happened, 'elsewhere', {
    hint: `Give the address of a node of ${network.id}, or correct the chain id.`,
    data: { expected: network.chainId, got: chainId },
  });
}
