import { expect, it } from 'vitest';
import * as door from './index.js';

it('exports these names and no others', () => {
  expect(Object.keys(door).sort()).toEqual([
    'HOLE_REASONS',
    'NFT_OUTCOMES',
    'SEGMENT_BLOCKS',
    'USAGE_GROUPS',
    'WINDOW_REPAIRS',
    'createDatabase',
    'formatDay',
    'migrate',
    'migrationsDigest',
    'parseDay',
    'parseNotice',
    'parseSince',
    'waitForSchema',
    'withLock',
  ]);
});
