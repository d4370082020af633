import { CLONE, type Recorded, type RecordingName, type Recordings } from '@packhouse/recordings';
import type { Sample } from './samples.js';

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

/** The chain of a recording of one network. */
function chainOf(source: Recordings, recording: RecordingName): number {
  if (recording === 'optimism') return 10;
  return recording === 'early' && source === CLONE ? 11_155_111 : 1;
}

/** Blocks of a recording, each `every`-th. */
export function realSamples(source: Recordings, recording: RecordingName, every = 1): Sample[] {
  const lines = source.lines(recording).filter((_, index) => index % every === 0);
  return lines.map((line) => {
    const { net, number, block, receipts, traces } = JSON.parse(line) as Recorded;
    const whole = receipts?.every(({ logsBloom }) => logsBloom !== undefined) === true;
    return {
      name: `${net ?? recording} ${number}`,
      chainId: net === undefined ? chainOf(source, recording) : (CHAINS[net] ?? 1),
      signed: net === undefined,
      block: JSON.stringify(block),
      ...(whole ? { receipts: JSON.stringify(receipts) } : {}),
      ...(traces === undefined ? {} : { traces: JSON.stringify(traces) }),
    };
  });
}

/** Blocks of all sources that are small enough to be changed often. */
export function smallSamples(sources: readonly Recordings[]): Sample[] {
  const all = sources.flatMap((source) => [
    // Sixteen of them: they are much alike.
    ...realSamples(source, 'early', Math.ceil(source.lines('early').length / 16)),
    ...(['forks', 'optimism', 'other-networks'] as const)
      .filter(source.has)
      .flatMap((name) => realSamples(source, name)),
  ]);
  return all.filter(({ block, receipts = '' }) => block.length + receipts.length < 30_000);
}
