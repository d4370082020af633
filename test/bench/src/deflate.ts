import { inflateRawSync, constants as zlib } from 'node:zlib';
import { createDeflater, type Deflate, deflatePiece } from '@packhouse/bundle';
import { createProver } from '@packhouse/chain';
import { median } from '@packhouse/rig';
import { createLogger, createMetrics } from '@packhouse/runtime';
import type { BenchOptions } from './options.js';
import type { BenchOutcome } from './result.js';
import { SOURCE, SOURCE_NAME } from './sample.js';

const ROUNDS = 15;
const MAX_CPU = 1 / 3;
const MAX_INFLATING = 1.1;

/** What is proved makes no difference to the texts. */
const POLICY = {
  header: 'trust',
  transactions: 'trust',
  receipts: 'trust',
  senders: 'off',
  extraFields: 'keep',
} as const;

interface Measured {
  deflate: Deflate;
  bytes: number;
  /** CPU of a block in all threads, in milliseconds, a round each. */
  deflateMs: number[];
  inflateMs: number[];
}

/** The kernel against zlib: the texts of all five kinds of twelve blocks as an ingester deflates them, in turns. */
export async function benchDeflate({ say }: BenchOptions): Promise<BenchOutcome[]> {
  const blocks = await getTexts();
  const raw = blocks.flat().reduce((sum, text) => sum + text.length, 0);
  const context = { logger: createLogger({ name: 'bench', level: 'warn' }), metrics: createMetrics() };
  const deflater = createDeflater({ context });
  const make = (deflate: Deflate): Measured => ({ deflate, bytes: 0, deflateMs: [], inflateMs: [] });
  const kernel = make(deflater.deflate);
  const today = make((text) => deflatePiece(text));
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const each of [today, kernel]) await measureRound(each, blocks);
    }
  } finally {
    await deflater.close();
  }
  say(`  ${blocks.length} ${SOURCE_NAME}, ${(raw / blocks.length / 1e6).toFixed(2)} MB of text each`);
  return describe(raw, kernel, today);
}

/** Deflates and inflates everything; the first round is not counted. */
async function measureRound(measured: Measured, blocks: readonly Buffer[][]): Promise<void> {
  const pieces: { body: Buffer; rawLength: number }[] = [];
  const deflateMs = await getCpu(async () => {
    for (const texts of blocks)
      pieces.push(...(await Promise.all(texts.map((text) => measured.deflate(text)))));
  });
  const inflateMs = await getCpu(async () => {
    for (const { body, rawLength } of pieces) {
      inflateRawSync(body, { finishFlush: zlib.Z_SYNC_FLUSH, chunkSize: Math.max(64, rawLength + 1) });
    }
  });
  if (measured.bytes > 0) {
    measured.deflateMs.push(deflateMs / blocks.length);
    measured.inflateMs.push(inflateMs / blocks.length);
  }
  measured.bytes = pieces.reduce((sum, { body }) => sum + body.length, 0);
}

async function getCpu(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function getTexts(): Promise<Buffer[][]> {
  const prover = await createProver(POLICY);
  return SOURCE.blocks('row').map(({ block, receipts, traces }) => {
    const proved = prover.proveBlock({ block, receipts });
    const { blockHead, transactions, blockTail, receipts: receiptTexts = '', logs = '' } = proved.texts;
    const texts = [
      blockHead,
      transactions,
      blockTail,
      receiptTexts,
      logs,
      prover.proveTraces(proved, traces),
    ];
    return texts.map((text) => Buffer.from(text, 'latin1'));
  });
}

function describe(raw: number, kernel: Measured, today: Measured): BenchOutcome[] {
  const cpu = median(kernel.deflateMs) / median(today.deflateMs);
  const inflating = median(kernel.inflateMs) / median(today.inflateMs);
  const least = (times: readonly number[]): string => Math.min(...times).toFixed(2);
  return [
    {
      name: `deflate: ratio, ${SOURCE_NAME}`,
      value: raw / kernel.bytes,
      unit: ': 1',
      yardstick: { name: 'zlib', value: raw / today.bytes, unit: ': 1' },
      target: 'no larger files',
      met: kernel.bytes <= today.bytes,
    },
    {
      name: `deflate: CPU of a block, ${SOURCE_NAME}`,
      value: median(kernel.deflateMs),
      unit: 'ms',
      yardstick: { name: 'zlib', value: median(today.deflateMs), unit: 'ms' },
      target: 'at most a third',
      met: cpu <= MAX_CPU,
      note: `all threads; medians of ${ROUNDS} rounds in turns; least ${least(kernel.deflateMs)} and ${least(today.deflateMs)} ms`,
    },
    {
      name: `deflate: CPU of inflating a block, ${SOURCE_NAME}`,
      value: median(kernel.inflateMs),
      unit: 'ms',
      yardstick: { name: 'what zlib deflated', value: median(today.inflateMs), unit: 'ms' },
      target: 'at most 10 % more',
      met: inflating <= MAX_INFLATING,
      note: `least ${least(kernel.inflateMs)} and ${least(today.inflateMs)} ms`,
    },
  ];
}
