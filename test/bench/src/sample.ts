import { CLONE, GIVEN, type Recordings } from '@packhouse/recordings';
import { generateChain, type RecordedBlock } from '@packhouse/replay-node';

/** Modern blocks to measure on. */
export interface Sample {
  name: string;
  from: 'generator' | 'clone' | 'mainnet';
  blocks: RecordedBlock[];
  /** How a replay node in another process gets the same. */
  replayArgs: string[];
}

/** Blocks of a sample. */
const LENGTH = 12;

/** Where recordings are read: mainnet's if the variable RECORDINGS names them, else those of the clone. */
export const SOURCE: Recordings = GIVEN ?? CLONE;

/** What the modern blocks there are: those of the clone are made, of mainnet's numbers and kinds. */
export const SOURCE_NAME = GIVEN === null ? 'made blocks' : 'mainnet blocks';

/** What the early blocks there are, which are mined, small and many. */
export const EARLY_NAME = GIVEN === null ? 'early Sepolia blocks' : 'first mainnet blocks';

/** Generated blocks, and twelve that are recorded. */
export function samples(): Sample[] {
  return [
    {
      name: 'generated blocks',
      from: 'generator',
      blocks: generateChain({ length: LENGTH }),
      replayArgs: ['--generate', String(LENGTH)],
    },
    {
      name: SOURCE_NAME,
      from: GIVEN === null ? 'clone' : 'mainnet',
      blocks: SOURCE.blocks<RecordedBlock>('row'),
      replayArgs: ['--file', SOURCE.path('row')],
    },
  ];
}
