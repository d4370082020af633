import { expect, it } from 'vitest';
import * as door from './index.js';

it('exports these names and no others', () => {
  expect(Object.keys(door).sort()).toEqual([
    'HOLE_REASONS',
    'NFT_OUTCOMES',
    'SEGMENT_BLOCKS',
    'USAGE_GROUPS',
    'createDatabase',
    'formatDay',
    'migrate',
    'migrationsDigest',
    'parseDay',
    'parseSince',
    'waitForSchema',
    'withLock',
  ]);
});
