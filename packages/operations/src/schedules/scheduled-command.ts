import { fail } from '../operation/fail.js';

/** The first words of a command. */
type Words = readonly [string, ...string[]];

/** Commands that end, ask nothing, write to the database and the object store only, and print no secret. */
const ALLOWED: readonly Words[] = [
  ['audit'],
  ['backfill', 'add'],
  ['backfill', 'list'],
  ['backfill', 'pause'],
  ['backfill', 'resume'],
  ['backfill', 'set'],
  ['backfill', 'show'],
  ['lake', 'pause'],
  ['lake', 'rebuild'],
  ['lake', 'resume'],
  ['lake', 'set'],
  ['lake', 'status'],
  ['quarantine', 'list'],
  ['quarantine', 'retry'],
  ['keys', 'usage'],
  ['alarms', 'list'],
  ['status'],
  ['usage', 'upstreams'],
  ['usage', 'owners'],
];
/** Options that delete: what an admin schedules. */
const DELETES = /^--delete/;
/** Options that would send the packer and its token elsewhere. */
const PLACE = /^--(?:server|data-dir)(?:=|$)/;
/** Characters of all arguments. */
const MAX_LENGTH = 4_000;

/** Whether a scheduled command deletes objects. */
export const isDeleting = (command: readonly string[]): boolean => command.some((word) => DELETES.test(word));

/** Throws SCHEDULE_INVALID with the allowed commands unless it is one of them. */
export function checkScheduledCommand(command: readonly string[]): void {
  const allowed = ALLOWED.some((words) => words.every((word, index) => command[index] === word));
  const list = ALLOWED.map((words) => words.join(' ')).join(', ');
  if (!allowed) {
    const given = command.slice(0, 2).join(' ').slice(0, 64);
    fail(
      'SCHEDULE_INVALID',
      given === '' ? 'No command to schedule.' : `"packhouse ${given}" cannot be scheduled.`,
      `Put one of these after --: ${list}.`,
    );
  }
  const place = command.find((word) => PLACE.test(word));
  if (place !== undefined) {
    fail(
      'SCHEDULE_INVALID',
      `A scheduled command takes no ${place.split('=')[0]}: it uses the database of the packer.`,
      'Omit it.',
    );
  }
  if (command.join(' ').length > MAX_LENGTH) {
    fail('SCHEDULE_INVALID', `A scheduled command has at most ${MAX_LENGTH} characters.`);
  }
}
