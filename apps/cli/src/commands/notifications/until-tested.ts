import { systemClock } from '@packhouse/runtime';
import type { CliIo } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';

/** How long a test is waited for, and how often it is looked whether it has ended, in milliseconds. */
const TEST_WAIT_MS = 30_000;
const TEST_LOOK_MS = 250;

/**
 * Waits until a packer has sent a test that was asked for, and returns what `show` returns then. `what` names it, `see`
 * is the command that shows it. Throws USAGE if no packer does.
 */
export async function untilTested<R extends { testedAt: Date | null }>(
  io: CliIo,
  { before, what, see }: { before: R; what: string; see: string },
  show: () => Promise<R>,
): Promise<R> {
  const until = systemClock.elapsed() + TEST_WAIT_MS;
  while (systemClock.elapsed() < until) {
    await systemClock.sleep(TEST_LOOK_MS, io.signal);
    const row = await show();
    if (row.testedAt?.getTime() !== before.testedAt?.getTime()) return row;
  }
  throw usageError(
    `No packer sent the test of ${what} within ${TEST_WAIT_MS / 1_000} s.`,
    `See whether packers run (\`packhouse workers list\`); the outcome will be in \`${see}\`.`,
  );
}
