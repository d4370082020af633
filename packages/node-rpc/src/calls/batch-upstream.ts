import { createReceiptRule } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import { type PackhouseError, type Scope, untilAborted } from '@packhouse/runtime';
import { toWindow } from '../spending/budget-rule.js';
import { NOBODY } from '../spending/spending.js';
import { type Fault, isFault, makeFault, toTransportFault } from '../upstream/fault.js';
import type { HttpAnswer } from '../upstream/http.js';
import type { NodeLabel } from '../upstream/label.js';
import { parseQuantity } from '../upstream/node-requests.js';
import { Upstream, type UpstreamOptions } from '../upstream/upstream.js';
import { readHttpAnswer, writeRequest } from './answers.js';
import { type BatchSizes, createBatchSizes } from './batch-sizes.js';
import { type Answer, type Call, type CallContext, failAll, toAsked } from './call.js';
import { createCapabilities } from './capabilities.js';
import { createInFlightLimit, type InFlightLimit } from './in-flight-limit.js';
import { runBatches, toNotAskedFault } from './run-batches.js';

interface BatchUpstreamOptions extends UpstreamOptions {
  network: Network;
  maxBodyBytes: number;
  /** Whether so many more calls may be sent; true counts them as sent. */
  mayCall: (calls: number) => boolean;
  /** Called whenever more requests are allowed than before. */
  onRoom: () => void;
}

const START_IN_FLIGHT = 4;

/** An upstream that is asked in batches, for blocks and heads; and what was learned by sending them. */
export class BatchUpstream extends Upstream {
  readonly capabilities: ReturnType<typeof createCapabilities>;
  readonly sizes: BatchSizes;
  readonly limit: InFlightLimit;
  /** Whether a block with this header may have fewer receipts than transactions. */
  readonly mayLackReceipts: ReturnType<typeof createReceiptRule>;
  /** Hashes of the last blocks whose receipts it failed to give at once. */
  readonly failedReceipts = new Set<string>();
  /** Its client version; null until known. */
  client: string | null = null;
  /** Its head when it was last known to be on the right branch, and when that was asked. */
  confirmed: { hash: string; at: number } | null = null;
  lastFault: Fault | null = null;
  requests = 0;
  errors = 0;
  readonly #options: BatchUpstreamOptions;
  #verifying: Promise<Fault | null> | undefined;

  constructor(options: BatchUpstreamOptions) {
    super(options);
    const { clock } = options.context;
    const { maxInFlight, requestsPerSecond } = options.upstream;
    this.#options = options;
    this.mayLackReceipts = createReceiptRule(options.network.proofs);
    this.capabilities = createCapabilities(clock);
    this.sizes = createBatchSizes({
      clock,
      largest: requestsPerSecond === undefined ? undefined : toWindow(requestsPerSecond).units,
    });
    this.limit = createInFlightLimit({
      start: START_IN_FLIGHT,
      max: Math.max(1, maxInFlight),
      onChange: (value) => {
        this.metrics.inFlightLimit(value);
        options.onRoom();
      },
    });
    this.metrics.inFlightLimit(this.limit.limit);
  }

  /**
   * Asks for the chain id, once for all callers at the same time; null if it is the network's. An upstream of another
   * chain is excluded, one that does not answer stays doubtful. Rejects only when the caller is aborted.
   */
  async verifyChain(scope: Scope): Promise<Fault | null> {
    this.#verifying ??= this.#askChain(scope).finally(() => {
      this.#verifying = undefined;
    });
    // The first caller may have been aborted: that is no answer for the others.
    return this.#verifying.catch(() => {
      scope.signal.throwIfAborted();
      return this.verifyChain(scope);
    });
  }

  async #askChain(scope: Scope): Promise<Fault | null> {
    const [answer] = await this.callAll([CHAIN_ID_CALL], { scope });
    const read = readChainId(this.label, answer as Answer);
    const unread = isFault(read) ? read : null;
    const fault = this.identify(isFault(read) ? null : read.chainId) ?? unread;
    this.chainDoubtful = fault !== null;
    return fault;
  }

  /** Sends calls of one method, in batches of a size that works here. Rejects only when aborted. */
  async callAll(calls: readonly Call[], context: CallContext): Promise<Answer[]> {
    if (this.cordoned) return failAll(calls, toNotAskedFault(this.exclusion as PackhouseError));
    if (this.chainDoubtful && calls[0] !== CHAIN_ID_CALL) {
      const { scope } = context;
      const fault = await untilAborted(this.verifyChain(scope), scope.signal);
      if (fault !== null) return failAll(calls, fault);
    }
    return runBatches(this, calls, context, this.#options.mayCall);
  }

  /** Sends one HTTP request and learns from the outcome; `release` lets the next one be sent. Rejects only when aborted. */
  async sendBatch(
    calls: readonly Call[],
    { account = NOBODY, lease, scope }: CallContext,
    release: () => void,
  ): Promise<Answer[]> {
    const { label, sizes, spending } = this;
    const { context, maxBodyBytes, timeoutMs } = this.#options;
    const { signal } = scope;
    const method = calls[0]?.method ?? '';
    const subject = calls[0]?.learnedAs ?? method;
    const firstId = this.http.takeIds(calls.length);
    const startedAt = performance.now();
    this.requests += calls.length;
    spending.sent(method, calls.length, account);
    let answer: HttpAnswer;
    try {
      answer = await this.http.post(writeRequest(calls, firstId), {
        signal,
        maxBytes: maxBodyBytes,
        came: (bytes) => {
          this.metrics.received(bytes);
          spending.received(method, bytes, account);
          const room = lease?.received(bytes, signal);
          if (room !== undefined) release();
          return room;
        },
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const fault = toTransportFault(error, toAsked(label, calls), calls.length);
      this.#noteFault(fault, subject, calls.length, startedAt);
      return this.#countAll(method, failAll(calls, fault));
    }
    const elapsedMs = performance.now() - startedAt;
    this.took(method, elapsedMs);
    this.answeredAfter(elapsedMs);
    // The next request may be sent while this answer is parsed.
    release();

    const answers = await readHttpAnswer(answer, calls, {
      label,
      scope,
      firstId,
      maxBodyBytes,
      timeoutMs,
      now: context.clock.now(),
      foundLate: (fault) => this.#noteFault(fault, subject, 1, startedAt),
      foundForeign: this.http.renew,
    });
    this.#countAll(method, answers);
    const faults = answers.flatMap((each) => (each.ok ? [] : [each.fault]));
    if (faults.length === 0) {
      this.pause.over();
      sizes.succeeded(subject, {
        calls: calls.length,
        weight: calls.reduce((sum, call) => sum + call.weight, 0),
        bytes: answers.reduce((sum, each) => sum + (each.ok ? each.bytes : 0), 0),
        elapsedMs,
      });
      // After the sizes: more room starts more requests at once, of the size that was just learned.
      this.limit.succeeded(subject, elapsedMs);
    }
    const worst = faults.find((fault) => fault.action === 'shrink') ?? faults[0];
    if (worst !== undefined) this.#noteFault(worst, subject, calls.length, startedAt);
    if (worst?.weighs !== true) this.circuit.succeeded();
    return answers;
  }

  #noteFault(fault: Fault, subject: string, calls: number, startedAt: number): void {
    const { code, message } = fault.error;
    this.lastFault = fault;
    this.lastError = message;
    if (fault.weighs) this.failed(fault.error);
    this.pause.ask(fault, startedAt);
    const isStrained = code === 'NODE_RATE_LIMITED' || code === 'NODE_TIMEOUT';
    if (isStrained || (fault.weighs && code !== 'NODE_UNAUTHORIZED')) this.limit.strained(startedAt);
    if (fault.action === 'shrink' && calls > 1) this.sizes.tooMuch(subject, calls);
  }

  #countAll(method: string, answers: Answer[]): Answer[] {
    for (const answer of answers) {
      if (!answer.ok) this.errors += 1;
      this.count(method, answer.ok ? 'ok' : answer.fault.error.code, 1);
    }
    return answers;
  }
}

/** The first call to every upstream of this network. */
const CHAIN_ID_CALL: Call = { method: 'eth_chainId', params: [], weight: 1, learnedAs: 'chain id' };

/** The chain id in an answer to eth_chainId, or the fault of the answer. */
function readChainId(label: NodeLabel, answer: Answer): { chainId: number } | Fault {
  if (!answer.ok) return answer.fault;
  const chainId = parseQuantity(answer.value);
  if (chainId !== null) return { chainId };
  const happened = `answered ${label.quote(JSON.stringify(answer.value) ?? '')}, which is no chain id,`;
  return makeFault({ label, what: 'eth_chainId' }, 'NODE_ANSWER_INVALID', happened, 'elsewhere');
}
