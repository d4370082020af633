import { PackhouseError } from '@packhouse/runtime';

/** Turns what Postgres or the system said when it failed into one of our errors. */
export function postgresFailure(output: string, directory: string, cause?: unknown): PackhouseError {
  const text = output.trim();
  const last =
    text
      .split('\n')
      .filter((line) => /FATAL|PANIC|error:|ERROR/.test(line))
      .at(-1) ?? text.slice(-300);
  const data = { directory };
  if (/No space left on device|ENOSPC|EDQUOT|could not resize shared memory/.test(text)) {
    return new PackhouseError({
      code: 'DISK_FULL',
      message: `No space is left for Postgres's data in ${directory}.`,
      hint: 'Free some space, or choose a data folder on another disk.',
      data,
      cause,
    });
  }
  if (/Address already in use|EADDRINUSE/.test(text)) {
    return new PackhouseError({
      code: 'PORT_IN_USE',
      message: 'The port for Postgres is taken by another program.',
      hint: 'Choose another port.',
      data,
      cause,
    });
  }
  if (/lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(text)) {
    return new PackhouseError({
      code: 'DATA_DIR_BUSY',
      message: `Another process already runs Postgres on ${directory}.`,
      hint: 'Stop that process first, or use another data folder.',
      data,
      cause,
    });
  }
  if (/incompatible with server/.test(text)) return newerData(directory, 'another version', cause);
  if (/EACCES|EEXIST|EPERM|EROFS|ENOTDIR|Permission denied/.test(text)) {
    return new PackhouseError({
      code: 'DATA_DIR_UNUSABLE',
      message: `Postgres cannot read or write its data folder ${directory}: ${last}.`,
      hint: 'Check who owns the folder, or choose another one.',
      data,
      cause,
    });
  }
  return new PackhouseError({
    code: 'CHILD_FAILED',
    message: `Postgres did not start in ${directory}: ${last === '' ? 'it said nothing' : last}.`,
    hint: 'Its log is postgres.log in that folder.',
    data,
    cause,
  });
}

/** The data folder was written by another major version than the installed one. */
export function newerData(directory: string, version: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'DATA_DIR_NEWER',
    message: `The data folder ${directory} was written by Postgres ${version}, and this program brings Postgres 18.`,
    hint: 'Use the version of Packhouse that made the folder, or choose another data folder.',
    data: { directory, version },
    cause,
  });
}
