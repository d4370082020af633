import { follow } from '@packhouse/pipeline';
import { type Context, isPackhouseError, type ProcessMessage } from '@packhouse/runtime';
import { createWake } from './wake.js';

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
  /** Called when something new is staged, and when the head is known at first. */
  moved(): void;
}): HeadFollower {
  const { context, moved, network, notify, ingest } = options;
  const { source } = ingest;
  const heads = createWake();
  let announcedAt = Number.NEGATIVE_INFINITY;
  let halted: string | null = null;
  let isKnown = false;
  /** What was said of blocks that still fail: a kind that is late fails at every poll. */
  let told: ReadonlySet<string> = new Set();
  const stop = source.onHead(() => {
    announcedAt = context.clock.elapsed();
    heads.ring();
  });

  const pause = (head: number | null): number => {
    const { announced, delivering } = source.subscription();
    if (!delivering) return network.pollIntervalMs;
    const missing = announced !== null && head !== null && announced > head;
    if (missing && context.clock.elapsed() - announcedAt < ANNOUNCED_PATIENCE_MS) {
      return Math.min(ANNOUNCED_POLL_MS, network.pollIntervalMs);
    }
    return Math.max(DELIVERED_POLL_MS, network.pollIntervalMs);
  };

  return {
    async step(signal) {
      const report = await follow(ingest, signal);
      if (report.staged > 0 || (!isKnown && report.head !== null)) moved();
      isKnown ||= report.head !== null;
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
