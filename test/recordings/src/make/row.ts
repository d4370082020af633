import type { Recorded } from '../recordings.js';
import { createCalls, script } from './calls.js';
import { LAST_TOTAL } from './forks.js';
import { createDice } from './made-values.js';
import { type MadeBlock, makeBlock } from './make-block.js';
import { toMix } from './mix.js';
import { toRecorded } from './to-json.js';
import type { Send } from './transactions.js';
import { createWorld } from './world.js';

const FIRST = 17_686_110;
const COUNT = 12;

/** Blocks of Shanghai in a row, each the parent of the next, with all kinds of records. */
export async function* makeRow(): AsyncGenerator<Recorded> {
  const at = (index: number) => ({ number: FIRST + index, timestamp: 1_689_269_891 + 12 * index });
  const world = await createWorld(at(0));
  let parent: MadeBlock | undefined;
  for (let index = 0; index < COUNT; index += 1) {
    const plan = {
      ...at(index),
      gasLimit: 30_000_000,
      baseFee: 48_160_670_000n,
      totalDifficulty: LAST_TOTAL,
      sends: toSends(index),
    };
    parent = await makeBlock(world, plan, parent);
    yield toRecorded(parent, { receipts: true, traces: true, withdrawals: false });
  }
}

function toSends(index: number): Send[] {
  const { transferStep, payStep, note, transfer } = createCalls(createDice(`row ${index}`));
  const mix = toMix({ name: `row ${index}`, count: 36 + ((index * 7) % 20), types: [0, 1, 2, 2, 2] });
  return [
    ...mix.slice(0, 3),
    // the first tree of calls: one of them logs, and no other calls its contract
    { call: script(300_000, transferStep(), payStep()), type: 2 },
    ...mix.slice(3),
    // as busy as a block of an exchange: most of what such blocks hold is transfers
    ...Array.from(
      { length: 3 },
      (): Send => ({ call: script(2_000_000, ...Array.from({ length: 48 }, transferStep)), type: 2 }),
    ),
    { call: note(400 + 300 * index), type: 2 },
    { call: transfer(), type: 0 },
  ];
}
