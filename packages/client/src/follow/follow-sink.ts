import type { FollowStep } from '../client/follow.js';

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
