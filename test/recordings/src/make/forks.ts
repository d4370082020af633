import type { Recorded } from '../recordings.js';
import { createCalls, script } from './calls.js';
import { createDice } from './made-values.js';
import { type BlockPlan, type MadeBlock, makeBlock } from './make-block.js';
import { toMix } from './mix.js';
import { type Parts, toRecorded } from './to-json.js';
import type { Send } from './transactions.js';
import { createWorld } from './world.js';

/** Blocks of one state, linked to each other, and what is kept of each. */
type Chapter = readonly (BlockPlan & Partial<Parts>)[];

/** The sum of all difficulties of mainnet, which nodes told for some time after the merge. */
export const LAST_TOTAL = 0xc70d815d562d3cfa955n;

const of = (name: string) => createCalls(createDice(name));
const legacy = (calls: readonly Send['call'][]): Send[] => calls.map((call) => ({ call, type: 0 }));

const early = of('early');
const frontier: Chapter = [
  {
    number: 47218,
    timestamp: 1_438_936_285,
    gasLimit: 42_085,
    difficulty: 0x153fcba3c4an,
    totalDifficulty: 0x9d3259d36d7618n,
    sends: legacy([early.pay(), early.pay()]),
  },
  {
    number: 47219,
    timestamp: 1_438_936_326,
    gasLimit: 42_085,
    difficulty: 0x153d23aa503n,
    sends: legacy([early.pay(), early.pay()]),
  },
];

const million = of('million');
const proofOfWork: readonly Chapter[] = [
  frontier,
  [
    {
      number: 1_000_000,
      timestamp: 1_455_404_053,
      gasLimit: 3_141_592,
      difficulty: 0xb69de81a22bn,
      totalDifficulty: 0x6332ab2d9f0a2fd0n,
      traces: true,
      rewards: 'null',
      sends: legacy([script(200_000, million.transferStep()), million.pay()]),
    },
  ],
  [
    {
      number: 4_369_999,
      timestamp: 1_508_131_303,
      gasLimit: 6_712_392,
      difficulty: 3_012_345_678_901_234n,
      totalDifficulty: 1_196_768_507_891_266_117_779n,
      sends: toMix({ name: 'spurious dragon', count: 22, types: [0], era: 'frontier' }),
    },
  ],
  [
    {
      number: 4_662_649,
      timestamp: 1_512_223_431,
      gasLimit: 7_990_000,
      difficulty: 1_512_345_678_901_234n,
      totalDifficulty: 1_624_768_507_891_266_117_779n,
      uncles: 2,
      sends: toMix({ name: 'byzantium', count: 60, types: [0], era: 'byzantium', unprotectedEvery: 8 }),
    },
  ],
  [
    {
      number: 12_900_060,
      timestamp: 1_627_278_649,
      gasLimit: 14_977_874,
      difficulty: 7_085_123_456_789_352n,
      totalDifficulty: 0x5eede609105b077a2c3n,
      traces: true,
      sends: toMix({ name: 'berlin', count: 72, types: [0, 0, 0, 1] }),
    },
  ],
  [
    {
      number: 12_972_264,
      timestamp: 1_628_264_446,
      gasLimit: 29_980_000,
      baseFee: 38_123_456_789n,
      difficulty: 7_412_345_678_901_234n,
      totalDifficulty: 0x60ba67e62aa737dc79fn,
      traces: true,
      sends: toMix({ name: 'london', count: 301, types: [0, 0, 0, 2], unprotectedEvery: 20 }),
    },
  ],
  [
    {
      number: 14_764_013,
      timestamp: 1_652_398_842,
      gasLimit: 30_000_000,
      baseFee: 112_345_678_901n,
      difficulty: 14_123_456_789_012_345n,
      totalDifficulty: 50_123_456_789_012_345_678_901n,
      uncles: 1,
      sends: [
        ...toMix({ name: 'arrow glacier 2', count: 16, types: [2] }),
        ...toMix({ name: 'arrow glacier 0', count: 3, types: [0] }),
      ],
    },
  ],
  [
    {
      number: 15_537_393,
      timestamp: 1_663_224_162,
      gasLimit: 29_999_972,
      baseFee: 48_811_794_595n,
      difficulty: 11_055_787_484_078_698n,
      totalDifficulty: LAST_TOTAL,
      traces: true,
      sends: [{ call: script(200_000, of('last').transferStep(), of('last').payStep()), type: 2 }],
    },
  ],
];

const proofOfStake: readonly Chapter[] = [
  [
    {
      number: 15_537_394,
      timestamp: 1_663_224_179,
      gasLimit: 30_000_000,
      baseFee: 48_811_794_595n,
      totalDifficulty: LAST_TOTAL,
      traces: true,
      sends: toMix({ name: 'paris', count: 42, types: [0, 2, 2, 2] }),
    },
  ],
  [
    {
      number: 18_500_000,
      timestamp: 1_699_116_959,
      gasLimit: 30_000_000,
      baseFee: 21_123_456_789n,
      sends: toMix({ name: 'shanghai', count: 60, types: [0, 2, 2, 2] }),
    },
  ],
  [
    {
      number: 19_433_902,
      timestamp: 1_710_427_319,
      gasLimit: 30_000_000,
      baseFee: 52_123_456_789n,
      excessBlobGas: 0n,
      totalDifficulty: LAST_TOTAL,
      sends: toMix({ name: 'cancun', count: 40, types: [0, 1, 2, 2] }),
    },
    {
      number: 19_433_903,
      timestamp: 1_710_427_331,
      gasLimit: 30_000_000,
      sends: toMix({ name: 'cancun with blobs', count: 40, types: [3, 0, 2, 2, 2, 2, 2, 0, 2, 2, 2, 2, 2] }),
    },
  ],
  [
    {
      number: 22_431_083,
      timestamp: 1_746_612_299,
      gasLimit: 35_900_000,
      baseFee: 1_523_456_789n,
      excessBlobGas: 40_000_000n,
      sends: toMix({ name: 'last of cancun', count: 30, types: [3, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2] }),
    },
    {
      number: 22_431_084,
      timestamp: 1_746_612_311,
      gasLimit: 35_900_000,
      sends: toMix({ name: 'first of prague', count: 30, types: [3, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2] }),
    },
  ],
  [
    {
      number: 22_431_086,
      timestamp: 1_746_612_335,
      gasLimit: 35_900_000,
      receipts: false,
      sends: toMix({ name: 'prague', count: 24, types: [4, 0, 2, 2, 2, 2, 2, 2] }),
    },
  ],
  [
    {
      number: 22_869_878,
      timestamp: 1_751_922_215,
      gasLimit: 35_929_552,
      baseFee: 1_258_644_138n,
      sends: [
        ...toMix({ name: 'all types', count: 90, types: [0, 1, 2, 2, 2, 4, 2, 2, 0] }),
        ...toMix({ name: 'blobs', count: 2, types: [3] }),
      ],
    },
    {
      number: 22_869_879,
      timestamp: 1_751_922_227,
      gasLimit: 35_929_552,
      sends: [],
    },
    {
      number: 22_869_880,
      timestamp: 1_751_922_239,
      gasLimit: 35_929_552,
      traces: true,
      sends: Array.from({ length: 500 }, (_, at): Send => ({ call: of(`many ${at}`).pay(), type: 2 })),
    },
  ],
  [
    {
      number: 23_950_000,
      timestamp: 1_764_900_011,
      gasLimit: 60_000_000,
      baseFee: 345_678_901n,
      excessBlobGas: 90_000_000n,
      traces: true,
      sends: toMix({ name: 'osaka', count: 40, types: [3, 0, 1, 2, 2, 2, 4, 2, 2, 2, 2, 2, 2, 2] }),
    },
  ],
];

/** One block or a few of every fork, in their order. */
export async function* makeForks(): AsyncGenerator<Recorded> {
  for (const chapter of [...proofOfWork, ...proofOfStake]) {
    const world = await createWorld(chapter[0]!);
    let parent: MadeBlock | undefined;
    for (const { receipts = true, traces = false, withdrawals = true, rewards, ...plan } of chapter) {
      parent = await makeBlock(world, plan, parent);
      yield toRecorded(parent, {
        receipts,
        traces,
        withdrawals,
        ...(rewards === undefined ? {} : { rewards }),
      });
    }
  }
}
