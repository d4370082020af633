import path from 'node:path';
import { chainDataDirectory, generateChain, loadRecording, type RecordedBlock } from '@packhouse/replay-node';

/** Modern blocks to measure on. */
export interface Sample {
  name: string;
  /** Whether they are mainnet's. */
  real: boolean;
  blocks: RecordedBlock[];
  /** How a replay node in another process gets the same. */
  replayArgs: string[];
}

/** Blocks of a sample. */
const LENGTH = 12;

/** Generated blocks, and twelve real mainnet blocks where they are there. */
export async function samples(): Promise<Sample[]> {
  const found: Sample[] = [
    {
      name: 'generated blocks',
      real: false,
      blocks: generateChain({ length: LENGTH }),
      replayArgs: ['--generate', String(LENGTH)],
    },
  ];
  const folder = chainDataDirectory();
  if (folder !== null) {
    const file = path.join(folder, 'mainnet-17686110-17686121.jsonl.gz');
    const blocks = await loadRecording(file);
    found.push({ name: 'mainnet blocks', real: true, blocks, replayArgs: ['--file', file] });
  }
  return found;
}
