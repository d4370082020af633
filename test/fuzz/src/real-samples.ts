import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Json } from './encode.js';
import type { Sample } from './samples.js';

/** Recordings of real blocks, kept outside of the project. */
const FOLDER = new URL('../../../../shared/chain-data/', import.meta.url);

/** Whether there are real blocks. */
export const HAS_REAL_BLOCKS = existsSync(FOLDER);

const CHAINS: Readonly<Record<string, number>> = {
  gnosis: 100,
  polygon: 137,
  'arb-sepolia': 421_614,
  scroll: 534_352,
  'scroll-5343513301': 5_343_513_301,
  cronos: 25,
  hyperliquid: 999,
  'stable-testnet': 2_201,
  'tempo-mainnet': 4_217,
  'bittensor-testnet': 945,
  sepolia: 11_155_111,
};

/** A line of a recording. */
interface Line {
  net?: string;
  number: number;
  block: Json;
  receipts?: Json[];
  traces?: Json[];
}

/** Real blocks of a recording, each `every`-th. */
export function realSamples(recording: string, every = 1): Sample[] {
  const text = gunzipSync(readFileSync(new URL(`${recording}.jsonl.gz`, FOLDER))).toString('latin1');
  const lines = text.split('\n').filter((line, index) => line !== '' && index % every === 0);
  return lines.map((line) => {
    const { net, number, block, receipts, traces } = JSON.parse(line) as Line;
    const whole = receipts?.every(({ logsBloom }) => logsBloom !== undefined) === true;
    return {
      name: `${net ?? recording} ${number}`,
      chainId: net === undefined ? (recording === 'optimism' ? 10 : 1) : (CHAINS[net] ?? 1),
      signed: net === undefined,
      block: JSON.stringify(block),
      ...(whole ? { receipts: JSON.stringify(receipts) } : {}),
      ...(traces === undefined ? {} : { traces: JSON.stringify(traces) }),
    };
  });
}

/** Real blocks that are small enough to be changed often. */
export function smallSamples(): Sample[] {
  const all = [
    ...realSamples('mainnet-0-8191', 512),
    ...['mainnet-forks', 'optimism', 'other-networks'].flatMap((name) => realSamples(name)),
  ];
  return all.filter(({ block, receipts = '' }) => block.length + receipts.length < 30_000);
}
