import type { Recorded, RecordingName, Recordings } from '@packhouse/recordings';
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

/** The chain of a block: by its network's name, or as its transactions say. Deposits do not. */
function chainOf({ net, block }: Recorded, recording: RecordingName): number {
  const known = net === undefined ? undefined : CHAINS[net];
  const named = block.transactions.find(({ chainId }) => typeof chainId === 'string')?.chainId;
  return known ?? Number(named ?? (recording === 'optimism' ? 10 : 1));
}

/** Blocks of a recording, each `every`-th. */
export function realSamples(source: Recordings, recording: RecordingName, every = 1): Sample[] {
  const lines = source.lines(recording).filter((_, index) => index % every === 0);
  return lines.map((line) => {
    const recorded = JSON.parse(line) as Recorded;
    const { net, number, block, receipts, traces } = recorded;
    const whole = receipts?.every(({ logsBloom }) => logsBloom !== undefined) === true;
    return {
      name: `${net ?? recording} ${number}`,
      chainId: chainOf(recorded, recording),
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
    ...(['forks', 'sepolia', 'optimism', 'hivechain', 'other-networks'] as const)
      .filter(source.has)
      .flatMap((name) => realSamples(source, name)),
  ]);
  return all.filter(({ block, receipts = '' }) => block.length + receipts.length < 30_000);
}
