import { randomBytes } from 'node:crypto';

/** Makes ids that are unique in a log: of this process, and counted. */
export function createRequestIds(): () => string {
  const run = randomBytes(4).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${run}-${count}`;
  };
}
