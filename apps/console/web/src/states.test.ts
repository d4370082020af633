import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ALARM_CURES } from './lib/alarm-cures.js';
import { REASONS } from './lib/reasons.js';
import { ENDED, WAITS } from './screens/backfills/waits.js';
import { KEY_CONDITIONS } from './screens/keys/key-condition.js';
import { NODE_CONDITIONS } from './screens/nodes/node-state.js';
import { FINDINGS } from './screens/overview/finding-kinds.js';
import { BLOCK_STATES } from './screens/quarantine/block-states.js';

const PAGE = readFileSync(new URL('../../../../docs/design/console.md', import.meta.url), 'utf8');

/** The lines of states on the page of the design: state: why; since; until; action. */
function readStates(thing: string): string[][] {
  const section = PAGE.split(/^###? /m).find((each) => each.startsWith(`${thing}\n`)) ?? '';
  return [...section.matchAll(/^- (.+?): (.+)$/gm)].map(([, states = '', rest = '']) => [
    states,
    ...rest.split('; '),
  ]);
}

const toWords = (entries: Readonly<Record<string, { words: string }>>): string[] =>
  Object.values(entries).map(({ words }) => words);

// The records are exhaustive by their types: a state without an entry does not compile.
test.each([
  ['States of backfills', [...toWords(WAITS), ...toWords(ENDED)]],
  ['States of holes', Object.values(REASONS).map(({ label }) => label)],
  ['States of blocks', Object.keys(BLOCK_STATES)],
  ['States of nodes', toWords(NODE_CONDITIONS)],
  ['States of keys', toWords(KEY_CONDITIONS)],
  ['Findings', Object.values(FINDINGS).map(([, words]) => words)],
  ['Alarms and their cures', Object.keys(ALARM_CURES).map((name) => `\`${name}\``)],
])(
  '%s: each has why, since, until and action on the page of the design, and no other is there',
  (thing, words) => {
    const rows = readStates(thing);
    // States that are alike in all four share a line.
    const states = rows.flatMap(([state = '']) => state.split(', '));
    expect([...new Set(states)].sort()).toEqual([...new Set(words)].sort());
    for (const row of rows) {
      expect(row, row[0]).toHaveLength(5);
      expect(
        row.filter((cell) => cell === ''),
        row[0],
      ).toEqual([]);
    }
  },
);
