import type { AbiInput } from '@packhouse/rows';
import { isPackhouseError, type PackhouseError, systemClock } from '@packhouse/runtime';
import type { Client } from '../client/create-client.js';
import type { FollowRequest, FollowStep } from '../client/follow.js';

/** A target that follows. It has rows and cursor of the same steps, after any death. */
export interface FollowSink {
  /** Of the newest step that it took, at first of the newest one that is committed: where `client.follow` goes on. Null: none. */
  readonly cursor: string | null;
  /** Rows that are committed. */
  readonly rows: number;
  /** Blocks so far whose rows were replaced since their file was published again, or should be: files stay as they are. */
  readonly replaced: readonly { from: number; to: number }[];
  /**
   * Takes the next step. It is committed at once if it may be undone, and else with some more. Throws FEED_INVALID if it
   * does not follow the one before, and TARGET_MISMATCH; nothing of it is kept then.
   */
  write(step: FollowStep): Promise<void>;
  /** Commits what was taken, unless a step failed, and lets others write to the target. */
  close(): Promise<void>;
}

/** Follows into a target that is opened again if it goes away. */
export interface FollowInto {
  client: Pick<Client, 'follow'>;
  /** Opens the target. */
  open(): Promise<FollowSink>;
  /** What is followed; the cursor is that of the target. */
  request: FollowRequest<AbiInput> & { signal: AbortSignal };
  /** Told of a target that went away, before the pause. */
  onAway?: ((error: PackhouseError, seconds: number) => void) | undefined;
  /** Told when it is there again. */
  onBack?: (() => void) | undefined;
}

/** A step that the target took, with the target. */
interface Taken {
  step: FollowStep;
  sink: FollowSink;
}

const INITIAL_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Follows into a target and yields each step after the target took it. A database that goes away, once it was there, is
 * opened again with pauses of at most a minute, and following goes on behind what was committed. What was taken is
 * committed at the end, also after an abort. Throws everything else.
 */
export async function* followInto({
  client,
  open,
  request,
  onAway,
  onBack,
}: FollowInto): AsyncGenerator<Taken, void, undefined> {
  let failures = 0;
  let opened = false;
  for (;;) {
    let sink: FollowSink | null = null;
    try {
      sink = await open();
      if (failures > 0) onBack?.();
      opened = true;
      for await (const step of client.follow({ ...request, cursor: sink.cursor ?? request.cursor })) {
        await sink.write(step);
        failures = 0;
        yield { step, sink };
      }
      return;
    } catch (error) {
      const isAway = opened && isPackhouseError(error, 'DATABASE_UNAVAILABLE') && !request.signal.aborted;
      if (!isAway) throw error;
      const ms = Math.min(MAX_PAUSE_MS, INITIAL_PAUSE_MS * 2 ** failures);
      failures += 1;
      onAway?.(error, ms / 1_000);
      await systemClock.sleep(ms, request.signal);
    } finally {
      await sink?.close();
    }
  }
}
