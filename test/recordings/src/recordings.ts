import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** A JSON object that tests may change. */
export type Json = Record<string, unknown>;

export type RecordedLog = Json & { topics: string[] };
export type RecordedReceipt = Json & { logs: RecordedLog[] };
export type RecordedTrace = Json & { action: Json; result?: Json | null };

/** A node's answers for one block: eth_getBlockByNumber with transactions, eth_getBlockReceipts, trace_block. */
export interface Recorded {
  /** The network, in recordings of several. */
  net?: string;
  number: number;
  block: Json & { transactions: Json[]; uncles: string[]; withdrawals?: Json[] };
  /** Absent if the node was not asked. */
  receipts?: RecordedReceipt[];
  /** Absent if the node was not asked. */
  traces?: RecordedTrace[];
}

/** The file of each recording in the two folders, without `.jsonl.gz`. The clone's are described in `blocks/README.md`. */
const FILES = {
  /** One or two blocks of every fork of mainnet, of the same numbers in both folders. */
  forks: { clone: 'made-forks', given: 'mainnet-forks' },
  /** Twelve busy blocks in a row, 17686110 to 17686121, of all kinds. */
  row: { clone: 'made-row', given: 'mainnet-17686110-17686121' },
  /** Many small blocks in a row, with uncles and total difficulties, from block 0 or later. */
  early: { clone: 'sepolia-early', given: 'mainnet-0-8191' },
  /** Blocks with transactions of Sepolia before the merge, and with traces. */
  sepolia: { clone: 'sepolia', given: undefined },
  /** Single blocks of mainnet, without receipts; the last has all five types. */
  mainnet: { clone: 'mainnet', given: undefined },
  /** Blocks of OP Mainnet, of other numbers in both folders: deposits, receipts with their nonces. */
  optimism: { clone: 'op-mainnet', given: 'optimism' },
  'op-sepolia': { clone: 'op-sepolia', given: undefined },
  goerli: { clone: 'goerli', given: undefined },
  /** A public devnet of Prague: blobs, and requests of each kind. */
  devnet: { clone: 'devnet', given: undefined },
  /** A made chain of Shanghai to Prague that geth ships. */
  hivechain: { clone: 'hivechain', given: undefined },
  'other-networks': { clone: undefined, given: 'other-networks' },
  'other-networks-2': { clone: undefined, given: 'other-networks-2' },
  'other-networks-3': { clone: undefined, given: 'other-networks-3' },
} as const;

export type RecordingName = keyof typeof FILES;

/** A folder of recordings: gzip-compressed files, a block a line. */
export interface Recordings {
  /** For titles of tests. */
  readonly title: string;
  has(name: RecordingName): boolean;
  /** The file of a recording. */
  path(name: RecordingName): string;
  /** The lines of a recording, which is read once. */
  lines(name: RecordingName): readonly string[];
  /** Fresh copies of the blocks of a recording, in the type of who reads them. */
  blocks<Block = Recorded>(name: RecordingName): Block[];
  /** A fresh copy of one block. */
  block(name: RecordingName, number: number): Recorded;
}

/** The blocks that every clone has. */
export const CLONE: Recordings = open(
  'blocks of the clone',
  fileURLToPath(new URL('../blocks/', import.meta.url)),
  'clone',
);

/** The recordings in the folder that the variable RECORDINGS names; null without it. */
export const GIVEN: Recordings | null = openGiven();

/** All that this machine has: what holds of blocks holds in each of them. */
export const ALL: readonly Recordings[] = GIVEN === null ? [CLONE] : [CLONE, GIVEN];

/** For suites that are skipped without RECORDINGS, within their tests. */
export function getGiven(): Recordings {
  if (GIVEN === null) throw new Error('RECORDINGS names no folder: see test/recordings/README.md');
  return GIVEN;
}

function openGiven(): Recordings | null {
  const folder = process.env.RECORDINGS;
  if (folder === undefined || folder === '') return null;
  if (!existsSync(folder))
    throw new Error(`RECORDINGS is ${folder}, which is no folder: see test/recordings/README.md`);
  return open('recordings', folder, 'given');
}

function open(title: string, folder: string, side: 'clone' | 'given'): Recordings {
  const known = new Map<RecordingName, readonly string[]>();
  const pathOf = (name: RecordingName): string => {
    const file = FILES[name][side];
    if (file === undefined) throw new Error(`the ${title} have no ${name}`);
    return path.join(folder, `${file}.jsonl.gz`);
  };
  const self: Recordings = {
    title,
    has: (name) => FILES[name][side] !== undefined && existsSync(pathOf(name)),
    path: pathOf,
    lines(name) {
      const found = known.get(name) ?? readLines(pathOf(name));
      known.set(name, found);
      return found;
    },
    blocks: (name) => self.lines(name).map((line) => JSON.parse(line)),
    block(name, number) {
      const line = self.lines(name).find((each) => each.startsWith(`{"number":${number},`));
      if (line === undefined) throw new Error(`no block ${number} in ${pathOf(name)}`);
      return JSON.parse(line) as Recorded;
    },
  };
  return self;
}

function readLines(file: string): string[] {
  return gunzipSync(readFileSync(file))
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '');
}
