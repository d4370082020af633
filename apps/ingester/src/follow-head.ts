import { createUnansweredRetry, follow } from '@packhouse/pipeline';
import { type Context, isPackhouseError, type ProcessMessage } from '@packhouse/runtime';
import { createPollPace } from './poll-pace.js';
import { createWake, type Wake } from './wake.js';

/** Follows the head of one network. */
interface HeadFollower {
  /** One poll, and the wait for the next. Throws the errors of `follow`. */
  step(signal: AbortSignal): Promise<void>;
  /** Ends the subscriptions. */
  close(): void;
}

/** While a subscription delivers new heads, the head is still asked for this often, in milliseconds. */
const DELIVERED_POLL_MS = 3_000;
/** Interval of asking for an announced head that the upstreams do not return yet, in milliseconds … */
const ANNOUNCED_POLL_MS = 100;
/** … and how long: it may be of another branch, or of another node behind the same address. */
const ANNOUNCED_PATIENCE_MS = 3_000;

/** Makes the follower of one network; its upstreams' subscriptions are open until it is closed. */
export function createHeadFollower(options: {
  context: Context;
  network: { id: string; pollIntervalMs: number };
  ingest: Parameters<typeof follow>[0];
  notify(message: ProcessMessage): void;
  /** Ends the wait for the next poll. */
  heads?: Wake;
  /** Called when something new is staged or final, and when the head is known at first. */
  moved(): void;
}): HeadFollower {
  const { context, heads = createWake(), moved, network, notify, ingest } = options;
  const { source } = ingest;
  const retryUnanswered = createUnansweredRetry(ingest);
  const pace = createPollPace(context.clock, network);
  let announcedAt = Number.NEGATIVE_INFINITY;
  let halted: string | null = null;
  /** The newest final block that was noted. */
  let finalized: number | null = null;
  /** What was said of blocks that still fail: a kind that is late fails at every poll. */
  let told: ReadonlySet<string> = new Set();
  const stop = source.onHead(() => {
    announcedAt = context.clock.elapsed();
    heads.ring();
  });

  const pause = (head: number | null): number => {
    const { announced, delivering } = source.subscription();
    if (!delivering) return pace.getPause();
    const missing = announced !== null && head !== null && announced > head;
    if (missing && context.clock.elapsed() - announcedAt < ANNOUNCED_PATIENCE_MS) {
      return Math.min(ANNOUNCED_POLL_MS, network.pollIntervalMs);
    }
    return Math.max(DELIVERED_POLL_MS, pace.getPause());
  };

  const retry = async (): Promise<void> => {
    if ((await retryUnanswered()) > 0) moved();
  };

  return {
    async step(signal) {
      const report = await follow({ ...ingest, asksFinalized: pace.asksFinalized }, signal).finally(retry);
      if (report.head !== null) {
        const { failures, followed, head } = report;
        pace.note({ number: head.number, hash: head.hash, followed, failed: failures.length > 0 });
      }
      if (report.staged > 0 || (report.head !== null && report.head.finalized !== finalized)) moved();
      finalized = report.head?.finalized ?? finalized;
      if (report.halted !== null && report.halted.message !== halted) {
        notify({ type: 'problem', code: report.halted.code, message: report.halted.message });
      }
      halted = report.halted?.message ?? null;
      const before = told;
      told = new Set(report.failures.map(toSentence));
      for (const failure of report.failures) {
        const { number, error } = failure;
        if (before.has(toSentence(failure))) continue;
        context.logger.warn(
          { network: network.id, block: number, err: error },
          'block at the head could not be staged yet',
        );
        notify({
          type: 'problem',
          code: isPackhouseError(error) ? error.code : 'INTERNAL',
          message: error.message,
        });
      }
      if (!report.behind) await heads.wait(pause(report.head?.number ?? null), signal);
    },
    close: stop,
  };
}

function toSentence({ number, error }: { number: number; error: Error }): string {
  return `${number} ${error.message}`;
}
