import { cpus } from 'node:os';
import { deflateRawSync } from 'node:zlib';
import { createProver } from '@packhouse/chain';
import type { RecordedBlock } from '@packhouse/replay-node';

/** The unavoidable CPU cost of a block, in milliseconds. */
export interface Floor {
  parseMs: number;
  stringifyMs: number;
  deflateMs: number;
  proveMs: number;
  /** Blocks a second of this machine's cores if they did nothing else. */
  blocksPerSecond: number;
}

const POLICY = {
  header: 'recompute',
  transactions: 'recompute',
  receipts: 'recompute',
  senders: 'off',
  extraFields: 'keep',
} as const;

/**
 * Measures parse, stringify, deflate (level 4, all five kinds) and proofs alone, in this process, on one core.
 *
 * `proveMs` includes writing canonical text, which the budget counts under stringify. So the cost of the proofs is the
 * difference, at least 0.
 */
export async function measureFloor(blocks: readonly RecordedBlock[], rounds = 5): Promise<Floor> {
  const prover = await createProver(POLICY);
  const spent = { parse: 0, stringify: 0, deflate: 0, proveAndText: 0 };
  const timed = <T>(name: keyof typeof spent, work: () => T): T => {
    const before = process.cpuUsage();
    const result = work();
    const used = process.cpuUsage(before);
    spent[name] += (used.user + used.system) / 1000;
    return result;
  };
  const answers = blocks.map((block) =>
    [block.block, block.receipts, block.traces].map((value) => Buffer.from(JSON.stringify(value), 'latin1')),
  );
  for (let round = -1; round < rounds; round++) {
    if (round === 0) for (const name of Object.keys(spent) as (keyof typeof spent)[]) spent[name] = 0;
    for (const answer of answers) {
      const [block, receipts, traces] = timed('parse', () =>
        answer.map((bytes) => JSON.parse(bytes.toString('latin1')) as never),
      ) as unknown as [{ transactions: unknown }, { logs: unknown[] }[], unknown[]];
      const texts = timed('stringify', () =>
        [block, block.transactions, receipts, receipts.flatMap((receipt) => receipt.logs), traces].map(
          (value) => JSON.stringify(value),
        ),
      );
      timed('deflate', () => texts.map((text) => deflateRawSync(Buffer.from(text, 'latin1'), { level: 4 })));
      timed('proveAndText', () => {
        const proved = prover.proveBlock({ block, receipts });
        return prover.proveTraces(proved, traces).length;
      });
    }
  }
  const per = (name: keyof typeof spent): number => spent[name] / (rounds * blocks.length);
  const proveMs = Math.max(0, per('proveAndText') - per('stringify'));
  const cpuMs = per('parse') + per('stringify') + per('deflate') + proveMs;
  return {
    parseMs: per('parse'),
    stringifyMs: per('stringify'),
    deflateMs: per('deflate'),
    proveMs,
    blocksPerSecond: (cpus().length * 1000) / cpuMs,
  };
}
