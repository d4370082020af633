import { PackhouseError } from '@packhouse/runtime';
import { objectMissing } from './checks.js';

/** The words for an operation on an object, or on the store's folder itself, in messages. */
export type DiskDeed = 'read from' | 'written to' | 'deleted from' | 'listed in' | 'opened in';

/** Converts an error of the file system; any other is returned unchanged. */
export function diskError(error: unknown, key: string, deed: DiskDeed, where: string): unknown {
  const errno = (error as NodeJS.ErrnoException).code;
  if (error instanceof PackhouseError || typeof errno !== 'string' || !/^E[A-Z0-9]+$/.test(errno))
    return error;
  const said = (code: 'DISK_FULL' | 'OBJECT_STORE_UNAVAILABLE' | 'OBJECT_STORE_INVALID', hint: string) =>
    new PackhouseError({
      code,
      message: `${key} could not be ${deed} ${where}: ${errno}.`,
      hint,
      data: { key, errno },
      cause: error,
    });
  switch (errno) {
    case 'ENOENT':
    case 'EISDIR':
    case 'ENOTDIR':
    case 'EEXIST':
      if (deed === 'read from') return objectMissing(key, where, error);
      return errno === 'ENOENT'
        ? said(
            'OBJECT_STORE_UNAVAILABLE',
            'Its folder went away while it was in use; the work is tried again.',
          )
        : said('OBJECT_STORE_INVALID', 'A file stands where a folder is needed, or the other way round.');
    case 'ENOSPC':
    case 'EDQUOT':
      return said(
        'DISK_FULL',
        'Free space on that disk, or point OBJECT_STORE to another; the work is tried again.',
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return said('OBJECT_STORE_UNAVAILABLE', 'Let the user that runs Packhouse read and write there.');
    default:
      return said('OBJECT_STORE_UNAVAILABLE', 'Look at the disk; the work is tried again.');
  }
}
