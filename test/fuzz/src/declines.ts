import { createProver, type Prover } from '@packhouse/chain';
import type { RecordingName, Recordings } from '@packhouse/recordings';
import { PLAIN, toRaw } from './cases.js';
import { prove } from './judge.js';
import { realSamples } from './real-samples.js';
import { getScanner } from './scanner.js';

/** Recordings whose blocks are counted; folders have some of them. */
const RECORDINGS: readonly RecordingName[] = [
  'row',
  'forks',
  'early',
  'optimism',
  'sepolia',
  'mainnet',
  'op-sepolia',
  'goerli',
  'devnet',
  'hivechain',
  'other-networks',
  'other-networks-2',
  'other-networks-3',
];

/** Valid blocks of some rules that the scanner declined for one reason, or none (`scanned`). */
interface Declines {
  reason: string;
  rules: string;
  blocks: number;
}

/** How many of the blocks that the prover accepts the scanner declines, by its reason and the rules of their chains. */
export async function countDeclines(sources: readonly Recordings[]): Promise<Declines[]> {
  const counts = new Map<string, Declines>();
  const provers = new Map<number, Prover>();
  for (const source of sources) {
    for (const sample of RECORDINGS.filter(source.has).flatMap((name) => realSamples(source, name))) {
      const { chainId } = sample;
      const prover = provers.get(chainId) ?? (await createProver({ ...PLAIN, chainId }));
      provers.set(chainId, prover);
      const found = getScanner(prover)(toRaw(sample));
      if ('refused' in found || ('declined' in found && !isValid(prover, toRaw(sample)))) continue;
      const reason = 'declined' in found ? found.declined : 'scanned';
      const key = `${reason} ${prover.rules}`;
      const row = counts.get(key) ?? { reason, rules: prover.rules, blocks: 0 };
      row.blocks++;
      counts.set(key, row);
    }
  }
  return [...counts.values()].sort((a, b) =>
    `${a.reason} ${a.rules}`.localeCompare(`${b.reason} ${b.rules}`, 'en'),
  );
}

/** A row of the table in docs/proofs.md. */
export const toRow = ({ reason, rules, blocks }: Declines): string =>
  `| ${reason} | \`${rules}\` | ${blocks} |`;

function isValid(prover: Prover, raw: ReturnType<typeof toRaw>): boolean {
  try {
    prove(prover, raw);
    return true;
  } catch {
    return false;
  }
}
