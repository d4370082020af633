import type { Prover } from '@packhouse/chain';
import type { BlockSource, FailedBlock, FetchedBlock } from '@packhouse/node-rpc';
import { createLogger, createMetrics, type ErrorCode, PackhouseError, systemClock } from '@packhouse/runtime';
import { describe, expect, it, test } from 'vitest';
import { type ExtractFailure, proveBlock } from './prove-block.js';

const error = (code: ErrorCode, upstream: string) =>
  new PackhouseError({
    code,
    message: `${code} of ${upstream}`,
    data: { upstream, kinds: ['receipts'], proof: 'consistency' },
  });

/** What an upstream does: its block fails by this error, or it is not fetched at all. */
type Act = readonly ['fails' | 'lacks', ErrorCode];

const NUMBER = 7;
const REQUEST = { receipts: true, traces: true };

/** The failure of a block that two upstreams do not give; `acts` in the order in which they are asked. */
async function failure(...acts: readonly Act[]): Promise<ExtractFailure> {
  const names = acts.map((_, at) => `node-${at + 1}`);
  const fetched = (at: number): FetchedBlock => {
    const [act, code] = acts[at] as Act;
    const upstream = names[at] as string;
    if (act === 'lacks') throw error(code, upstream);
    return { number: NUMBER, upstream, block: upstream, bytes: 1, answered: [] };
  };
  const source = {
    status: () => names.map((name) => ({ name })),
    fetchBlock: async (_: number, __: unknown, { avoid = [] }: { avoid?: string[] }) =>
      fetched(names.findIndex((name) => !avoid.includes(name))),
    reportInvalidResponse: () => undefined,
  } as unknown as BlockSource;
  const prover = {
    proveBlock: ({ block }: { block: string }) => {
      throw error(acts[names.indexOf(block)]![1], block);
    },
  } as unknown as Prover;
  const context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: new AbortController().signal,
  };
  const outcome = await proveBlock(
    { context, source, prover, network: 'main' },
    fetched(0),
    REQUEST,
    context.signal,
  );
  return outcome as ExtractFailure;
}

const shown = async (...acts: readonly Act[]) => {
  const { error: cause, upstream, tried } = await failure(...acts);
  expect(tried.map((one) => one.cause)).toEqual(acts.map(([, code]) => code));
  return [(cause as PackhouseError).code, upstream];
};

describe('the cause of a block that several upstreams do not give', () => {
  const LACKS: readonly ErrorCode[] = [
    'NODE_ANSWER_MISSING',
    'NODE_ERROR',
    'NODE_TIMEOUT',
    'NODE_UNREACHABLE',
    'NODE_NOT_JSON_RPC',
    'NODE_RATE_LIMITED',
    'NODE_METHOD_MISSING',
    'BUDGET_EXHAUSTED',
  ];
  it.each(
    (['PROOF_FAILED', 'RECORD_INVALID'] as const).flatMap((finding) =>
      LACKS.map((code) => [finding, code] as const),
    ),
  )('is %s and not %s, in whatever order and while whichever part is read', async (finding, code) => {
    expect(await shown(['fails', finding], ['lacks', code])).toEqual([finding, 'node-1']);
    expect(await shown(['fails', finding], ['fails', code])).toEqual([finding, 'node-1']);
    expect(await shown(['fails', code], ['fails', finding])).toEqual([finding, 'node-2']);
    expect(await shown(['fails', code], ['fails', finding], ['lacks', code])).toEqual([finding, 'node-2']);
  });

  it('is the failed proof and not a malformed record, and of two failed proofs the later', async () => {
    expect(await shown(['fails', 'PROOF_FAILED'], ['fails', 'RECORD_INVALID'])).toEqual([
      'PROOF_FAILED',
      'node-1',
    ]);
    expect(await shown(['fails', 'PROOF_FAILED'], ['fails', 'PROOF_FAILED'])).toEqual([
      'PROOF_FAILED',
      'node-2',
    ]);
  });

  it('is a false answer that was seen before any proof', async () => {
    expect(await shown(['fails', 'NODE_TIMEOUT'], ['lacks', 'NODE_ANSWER_INVALID'])).toEqual([
      'NODE_ANSWER_INVALID',
      'node-2',
    ]);
  });
});

test('a block that was not fetched names the upstream of its cause', async () => {
  const [first, second] = [error('NODE_ANSWER_INVALID', 'node-1'), error('NODE_TIMEOUT', 'node-2')];
  const failed: FailedBlock = {
    number: NUMBER,
    error: first,
    upstreams: ['node-1', 'node-2'],
    faults: [
      { upstream: 'node-1', error: first },
      { upstream: 'node-2', error: second },
    ],
  };
  const outcome = await proveBlock({} as never, failed, REQUEST, new AbortController().signal);
  expect(outcome).toMatchObject({ error: first, upstream: 'node-1' });
});
