import { PackhouseError } from '@packhouse/runtime';
import { createReplayNode, type ReplayNode } from './create-replay-node.js';
import { extendChain } from './extend-chain.js';
import { generateChain } from './generate-chain.js';
import { giantTraceBlock } from './giant-trace-block.js';
import { joinChains } from './join-chains.js';
import { loadRecording } from './load-recording.js';
import { loadAnswers } from './recorded-answers.js';
import { recordedChain } from './recorded-chain.js';
import type { ServedChain } from './served-chain.js';

/** The command line's options, as text, by name. */
type ReplayArguments = { [name: string]: string | string[] | boolean | undefined };

/** A node that was started, and what it serves. */
export interface StartedNode {
  node: ReplayNode;
  /** Absent if it serves recorded answers and no blocks. */
  blocks?: { first: number; last: number };
}

/**
 * Starts a replay node as the command line says.
 *
 * @throws PackhouseError USAGE for an option that is not a number, or a range without blocks.
 */
export async function startFromArguments(values: ReplayArguments): Promise<StartedNode> {
  const withBlocks = values.file !== undefined || values.generate !== undefined;
  const chain = withBlocks ? await getChain(values) : undefined;
  const files = Array.isArray(values.answers) ? values.answers : [];
  const answers = (await Promise.all(files.map(loadAnswers))).flat();
  const options: Record<string, number | undefined> = {
    port: toNumber(values, 'port'),
    chainId: toNumber(values, 'chain-id'),
    head: toNumber(values, 'head'),
    latencyMs: toNumber(values, 'latency'),
    bytesPerSecond: toNumber(values, 'bytes-per-second'),
    requestsPerSecond: toNumber(values, 'requests-per-second'),
  };
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const node = await createReplayNode({
    ...(chain === undefined ? {} : { blocks: chain }),
    answers,
    finalized: { depth: toNumber(values, 'finalized-depth') ?? 0 },
    ...(typeof values.host === 'string' ? { host: values.host } : {}),
    ...given,
  });
  if (chain === undefined) return { node };
  return { node, blocks: { first: chain.firstNumber, last: chain.lastNumber } };
}

async function getChain(values: ReplayArguments): Promise<ServedChain> {
  const from = toNumber(values, 'from') ?? 0;
  const to = toNumber(values, 'to') ?? Number.POSITIVE_INFINITY;
  const files = Array.isArray(values.file) ? values.file : [];
  const generate = toNumber(values, 'generate');
  const chainId = toNumber(values, 'chain-id') ?? 1;
  const all =
    generate === undefined
      ? (await Promise.all(files.map(loadRecording))).flat()
      : generateChain({ length: generate, startNumber: Math.max(1, from), chainId });
  const blocks = all
    .filter(({ number }) => number >= from && number <= to)
    .sort((a, b) => a.number - b.number);
  if (blocks.length === 0) {
    throw new PackhouseError({
      code: 'USAGE',
      message: `No block from ${from} to ${to} is in the recording.`,
      hint: `It has blocks ${all[0]?.number ?? '(none)'} to ${all.at(-1)?.number ?? '(none)'}.`,
    });
  }
  const length = toNumber(values, 'extend');
  const chain = length === undefined ? recordedChain(blocks) : extendChain(blocks, { length });
  const megabytes = toNumber(values, 'giant');
  const last = chain.block(chain.lastNumber);
  return megabytes === undefined || last === undefined
    ? chain
    : joinChains(chain, giantTraceBlock({ megabytes, after: last }));
}

function toNumber(values: ReplayArguments, name: string): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (typeof text === 'string' && text !== '' && number >= 0) return number;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--${name} takes a number that is not negative, got ${JSON.stringify(text)}.`,
    hint: 'Run with --help for the options.',
  });
}
