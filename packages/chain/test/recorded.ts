import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { ProofPolicy } from '../src/prove/proved-block.js';

/** Recordings of real blocks, kept outside of the project. */
const FOLDER = new URL('../../../../shared/chain-data/', import.meta.url);

/** Whether there are real blocks to test with. */
export const HAS_RECORDINGS = existsSync(FOLDER);

/** The existing recordings. */
export const RECORDINGS = [
  'mainnet-0-8191',
  'mainnet-17686110-17686121',
  'mainnet-forks',
  'optimism',
] as const;

/** Every proof but that of the senders; the rules of Ethereum, any chain. */
export const POLICY: ProofPolicy = {
  header: 'recompute',
  transactions: 'recompute',
  receipts: 'recompute',
  senders: 'off',
  extraFields: 'keep',
};

/** A JSON object that tests may change. */
export type Json = Record<string, unknown>;

/** A node's answers for one block. */
export interface Recorded {
  number: number;
  block: Json & { transactions: Json[]; uncles: string[]; withdrawals?: Json[] };
  receipts?: (Json & { logs: (Json & { topics: string[] })[] })[];
  traces?: (Json & { action: Json; result?: Json | null })[];
}

/** Fresh copies of the blocks of a recording. */
export function recorded(name: (typeof RECORDINGS)[number]): Recorded[] {
  return lines<Recorded>(name);
}

function lines<T>(name: string): T[] {
  return textsOf(name).map((line) => JSON.parse(line) as T);
}

const texts = new Map<string, string[]>();

/** The lines of a recording, which is read once. */
function textsOf(name: string): string[] {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = gunzipSync(readFileSync(new URL(`${name}.jsonl.gz`, FOLDER))).toString('latin1');
  const found = text.split('\n').filter((line) => line !== '');
  texts.set(name, found);
  return found;
}

/** A real block of another network; `receipts` are left out where the recording lacks their blooms. */
export interface OtherBlock extends Recorded {
  net: string;
}

/** Fresh copies of the blocks of other networks, by `<net> <number>`. */
export function otherBlocks(): Map<string, OtherBlock> {
  return new Map(
    ['other-networks', 'other-networks-2']
      .flatMap((name) => lines<OtherBlock>(name))
      .map(({ receipts, ...block }) => [
        `${block.net} ${block.number}`,
        receipts === undefined || receipts.some(({ logsBloom }) => logsBloom === undefined)
          ? block
          : { ...block, receipts },
      ]),
  );
}

/** A fresh copy of one block of a recording. */
export function recordedBlock(name: (typeof RECORDINGS)[number], number: number): Recorded {
  const line = textsOf(name).find((each) => each.startsWith(`{"number":${number},`));
  if (line === undefined) throw new Error(`no block ${number} in ${name}`);
  return JSON.parse(line) as Recorded;
}
