import type { Kind, Proof } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';

/** What can be wrong with a published bundle, or with the object store beside it. */
export type FindingCause =
  /** The index names an object that is not there. */
  | 'missing'
  /** The object has another length, or other bytes, than the index row says. */
  | 'size'
  | 'sha256'
  /** The bytes are no bundle, or not the one that the row's fragment table describes. */
  | 'gzip'
  | 'fragmentTable'
  | 'recordCount'
  /** A record is no JSON, lacks a field, is not in canonical form, or belongs to another block. */
  | 'json'
  | 'record'
  | 'canonical'
  | 'blockNumber'
  /** The file of `logs` is not the logs in the file of `receipts`. */
  | 'logs'
  /** Block hashes in the index row are not those of the content. */
  | 'blockHash'
  /** The index row itself cannot be read. */
  | 'indexRow'
  /** A proof fails. */
  | Proof
  /** An object that no row names, or whose name is none. */
  | 'orphan'
  | 'name';

/** One thing that an audit found; `message` says it in one sentence. */
export interface Finding {
  network: string;
  /** null for an object whose name tells none. */
  kind: Kind | null;
  start: number | null;
  end: number | null;
  /** The object. */
  key: string | null;
  version: number | null;
  cause: FindingCause;
  /** The block within the bundle, where it is one. */
  block: number | null;
  expected: string | null;
  got: string | null;
  message: string;
  /** Nothing that is published suffers from it. */
  harmless: boolean;
  /** Bytes of an object that no row names. */
  size?: number;
}

/** What differs, and how: the parts of a finding about a bundle. */
export interface Fault {
  cause: FindingCause;
  /** Goes on the sentence that begins with the bundle's name. */
  what: string;
  block?: number;
  expected?: string;
  got?: string;
}

/** The finding that a fault of a bundle makes. */
export function bundleFinding(row: BundleRow, fault: Fault): Finding {
  const { network, kind, start, end } = row;
  return {
    network,
    kind,
    start,
    end,
    key: row.objectKey,
    version: row.version,
    cause: fault.cause,
    block: fault.block ?? null,
    expected: fault.expected ?? null,
    got: fault.got ?? null,
    message: `${network} ${kind} ${start}-${end}: ${fault.what}`,
    harmless: false,
  };
}
