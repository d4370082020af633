import { expect, it } from 'vitest';
import * as door from './index.js';

it('exports these names and no others', () => {
  expect(Object.keys(door).sort()).toEqual([
    'BACKFILL_FILTERS',
    'HISTORY_FIGURES',
    'HOLE_REASONS',
    'HOUR_DAYS',
    'MINUTE_HOURS',
    'NFT_OUTCOMES',
    'SEGMENT_BLOCKS',
    'SPARSE',
    'USAGE_GROUPS',
    'USAGE_PARTS',
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
