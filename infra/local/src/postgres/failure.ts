import { type ErrorCode, PackhouseError } from '@packhouse/runtime';

interface Failure {
  /** Found in the output of Postgres or the system. */
  pattern: RegExp;
  code: ErrorCode;
  message: (directory: string, lastLine: string) => string;
  hint: string;
}

/** The first that matches applies. */
const FAILURES: readonly Failure[] = [
  {
    pattern: /No space left on device|ENOSPC|EDQUOT|could not resize shared memory/,
    code: 'DISK_FULL',
    message: (directory) => `No space is left for Postgres's data in ${directory}.`,
    hint: 'Free some space, or choose a data folder on another disk.',
  },
  {
    pattern: /Address already in use|EADDRINUSE/,
    code: 'PORT_IN_USE',
    message: () => 'The port for Postgres is in use by another program.',
    hint: 'Choose another port.',
  },
  {
    pattern: /lock file "postmaster\.pid" already exists|pre-existing shared memory block/,
    code: 'DATA_DIR_BUSY',
    message: (directory) => `Another process already runs Postgres on ${directory}.`,
    hint: 'Stop that process first, or use another data folder.',
  },
  {
    pattern: /could not look up effective user ID|local user with ID \d+ does not exist/,
    code: 'CHILD_FAILED',
    message: (_, last) => `Postgres runs only under an account that /etc/passwd has: ${last}.`,
    hint: 'Run Packhouse under such an account, or set DATABASE_URL to a Postgres of your own.',
  },
  {
    pattern: /EACCES|EEXIST|EPERM|EROFS|ENOTDIR|Permission denied/,
    code: 'DATA_DIR_UNUSABLE',
    message: (directory, last) => `Postgres cannot read or write its data folder ${directory}: ${last}.`,
    hint: 'Check who owns the folder, or choose another one.',
  },
];

const UNKNOWN: Omit<Failure, 'pattern'> = {
  code: 'CHILD_FAILED',
  message: (directory, last) =>
    `Postgres did not start in ${directory}: ${last === '' ? 'it said nothing' : last}.`,
  hint: 'Its log is postgres.log in that folder.',
};

/** Turns a failure's output of Postgres or the system into a PackhouseError. */
export function postgresFailure(output: string, directory: string, cause?: unknown): PackhouseError {
  const text = output.trim();
  if (/incompatible with server/.test(text)) return newerData(directory, 'another version', cause);
  const errors = text.split('\n').filter((line) => /FATAL|PANIC|error:|ERROR/.test(line));
  const lastLine = errors.at(-1) ?? text.slice(-300);
  const { code, message, hint } = FAILURES.find(({ pattern }) => pattern.test(text)) ?? UNKNOWN;
  return new PackhouseError({
    code,
    message: message(directory, lastLine),
    hint,
    data: { directory },
    cause,
  });
}

/** The error for a data folder that another major version than the installed one wrote. */
export function newerData(directory: string, version: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'DATA_DIR_NEWER',
    message: `The data folder ${directory} was written by Postgres ${version}, and this program brings Postgres 18.`,
    hint: 'Use the version of Packhouse that made the folder, or choose another data folder.',
    data: { directory, version },
    cause,
  });
}
