import type { Kind, Proof, TableName } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';

/** The causes of findings about a published bundle, or about other objects of the store. */
export type FindingCause =
  /** The index names an object that does not exist. */
  | 'missing'
  /** The object has another length, or other bytes, than the index row says. */
  | 'size'
  | 'sha256'
  /** The bytes are no bundle, or not the bundle of the row's fragment table. */
  | 'gzip'
  | 'fragmentTable'
  | 'recordCount'
  /** A record is no JSON, lacks a field, is not in canonical form, or is of another block. */
  | 'json'
  | 'record'
  | 'canonical'
  | 'blockNumber'
  /** The file of `logs` is not the logs in the file of `receipts`. */
  | 'logs'
  /** Block hashes in the index row are not those of the content. */
  | 'blockHash'
  /** The filter of the bundle is missing, damaged, or lacks something that the bundle has. */
  | 'filter'
  /** A data file of the lake is missing, damaged or unsigned; it can be written again from the bundles. */
  | 'dataFile'
  /** The index row itself cannot be read. */
  | 'indexRow'
  /** A proof fails. */
  | Proof
  /** An entry of the signed log is missing, changed, or does not follow the one before. */
  | 'manifest'
  /** An object that no row names, or whose name is not a bundle's. */
  | 'orphan'
  | 'name';

/** One thing that an audit found; `message` says it in one sentence. */
export interface Finding {
  network: string;
  /** Of a data file, its table; null for an object that is not named as a bundle. */
  kind: TableName | null;
  from: number | null;
  to: number | null;
  /** The object. */
  key: string | null;
  /** Of a data file, the snapshot that added it. */
  version: number | null;
  cause: FindingCause;
  /** The block within the bundle, if the finding is about one. */
  block: number | null;
  expected: string | null;
  got: string | null;
  message: string;
  /** Nothing that is published is damaged. */
  harmless: boolean;
  /** Bytes of an object that no row names. */
  size?: number;
}

/** What is there (`got`) in place of an object that is missing. */
export const NO_OBJECT = 'no object';

/** The parts of a finding about a bundle: the cause and the difference. */
export interface Fault {
  cause: FindingCause;
  /** The rest of a sentence that begins with the bundle's name. */
  what: string;
  block?: number | null;
  expected?: string | null;
  got?: string | null;
}

/** The finding about a fault of a bundle; `null` is not known. */
export function bundleFinding(
  row: Pick<BundleRow, 'network' | 'firstBlock' | 'lastBlock'> & {
    kind: TableName;
    objectKey: string | null;
    version: number | null;
  },
  { cause, what, block = null, expected = null, got = null }: Fault,
): Finding {
  const { network, kind, firstBlock: from, lastBlock: to, objectKey: key, version } = row;
  const message = `${network} ${kind} ${from}-${to}: ${what}`;
  return { network, kind, from, to, key, version, cause, block, expected, got, message, harmless: false };
}

export function missingObject(row: BundleRow, store: ObjectStore): Fault {
  return {
    cause: 'missing',
    what: `the object ${row.objectKey} is not in ${store.description}.`,
    expected: `${row.byteLength} bytes with SHA-256 ${row.sha256}`,
    got: NO_OBJECT,
  };
}

export function wrongSize(row: BundleRow, bytes: number): Fault {
  return {
    cause: 'size',
    what: `the object ${row.objectKey} has ${bytes} bytes, expected ${row.byteLength}.`,
    expected: String(row.byteLength),
    got: String(bytes),
  };
}

/** Characters shown of a record that is not canonical. */
const SHOWN = 40;

/** The fault behind an error of the prover or of the reader of records. */
export function recordFault(block: number, error: unknown): Fault {
  const { message } = error as Error;
  const what = `in block ${block}, ${message.replace(/^Block \d+: /, '')}`;
  if (!isPackhouseError(error)) return { cause: 'record', what, block };
  const { proof, expected, got } = error.data;
  const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const cause = error.code === 'PROOF_FAILED' ? (proof as FindingCause) : 'record';
  return { cause, what, block, expected: toText(expected), got: toText(got) };
}

/** Whether a record of this kind may be the false one, by an error of the prover. */
export function isDoubtful(error: unknown, kind: Kind): boolean {
  return (
    isPackhouseError(error) && (error.data.kinds as readonly Kind[] | undefined)?.includes(kind) === true
  );
}

export function notCanonical(block: number, expected: string, got: string): Fault {
  let at = 0;
  while (at < got.length && got[at] === expected[at]) at++;
  const from = Math.max(0, at - SHOWN / 2);
  const [right, wrong] = [expected.slice(from, at + SHOWN), got.slice(from, at + SHOWN)];
  return {
    cause: 'canonical',
    what: `the record of block ${block} is not in canonical form at byte ${at}: it has ${JSON.stringify(wrong)}, expected ${JSON.stringify(right)}.`,
    block,
    expected: right,
    got: wrong,
  };
}

export function wrongNumber(block: number, got: string): Fault {
  return {
    cause: 'blockNumber',
    what: `the record in the place of block ${block} is of block ${got}.`,
    block,
    expected: String(block),
    got,
  };
}

export function notJson(block: number, error: Error): Fault {
  return { cause: 'json', what: `the record of block ${block} is not JSON: ${error.message}.`, block };
}
