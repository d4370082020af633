import path from 'node:path';
import { chainDataDirectory, generateChain, loadRecording, type RecordedBlock } from '@packhouse/replay-node';

/** Modern blocks to measure on. */
export interface Sample {
  name: string;
  blocks: RecordedBlock[];
  /** How a replay node in another process gets the same. */
  replayArgs: string[];
}

/** Generated blocks, and twelve real mainnet blocks where they are there. */
export async function samples(): Promise<Sample[]> {
  const found: Sample[] = [
    {
      name: 'generated blocks',
      blocks: [...(await generateChain({ length: 12 }))],
      replayArgs: ['--generate', '12'],
    },
  ];
  const folder = chainDataDirectory();
  if (folder !== null) {
    const file = path.join(folder, 'mainnet-17686110-17686121.jsonl.gz');
    found.push({ name: 'mainnet blocks', blocks: await loadRecording(file), replayArgs: ['--file', file] });
  }
  return found;
}
