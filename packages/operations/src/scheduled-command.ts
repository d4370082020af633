import { PackhouseError } from '@packhouse/runtime';

/** A command that may be scheduled; all after its words are arguments and options of it. */
type Words = readonly [string, ...string[]];

/**
 * What may be scheduled: what ends by itself, needs nobody, writes to nothing but the database and the object store, and
 * prints no secret, as its last line is kept.
 */
const ALLOWED: readonly Words[] = [
  ['audit'],
  ['backfill', 'add'],
  ['backfill', 'list'],
  ['backfill', 'pause'],
  ['backfill', 'resume'],
  ['backfill', 'set'],
  ['backfill', 'show'],
  ['quarantine', 'list'],
  ['quarantine', 'retry'],
  ['keys', 'usage'],
  ['alarms', 'list'],
  ['status'],
  ['usage', 'upstreams'],
  ['usage', 'owners'],
];
/** Options that would send the packer, and its token, elsewhere. */
const PLACE = /^--(?:server|data-dir)(?:=|$)/;
/** Most characters of all arguments. */
const MAX_LENGTH = 4_000;

/** Checks that a command may be scheduled; throws SCHEDULE_INVALID with the list of those that may. */
export function checkScheduledCommand(command: readonly string[]): void {
  const allowed = ALLOWED.some((words) => words.every((word, index) => command[index] === word));
  const list = ALLOWED.map((words) => words.join(' ')).join(', ');
  if (!allowed) {
    const given = command.slice(0, 2).join(' ').slice(0, 64);
    throw new PackhouseError({
      code: 'SCHEDULE_INVALID',
      message:
        given === '' ? 'No command is given to schedule.' : `"packhouse ${given}" cannot be scheduled.`,
      hint: `Give one of these behind --: ${list}.`,
    });
  }
  const place = command.find((word) => PLACE.test(word));
  if (place !== undefined) {
    throw new PackhouseError({
      code: 'SCHEDULE_INVALID',
      message: `A scheduled command takes no ${place.split('=')[0]}: it works on the database of the packer.`,
      hint: 'Leave it out.',
    });
  }
  if (command.join(' ').length > MAX_LENGTH) {
    throw new PackhouseError({
      code: 'SCHEDULE_INVALID',
      message: `A scheduled command has at most ${MAX_LENGTH} characters.`,
    });
  }
}
