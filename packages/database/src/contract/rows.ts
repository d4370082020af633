import type { Fragment, FragmentInfo } from '@packhouse/bundle';
import type { BlockRange, Kind, NotProved, Proof } from '@packhouse/chain';
import type { FilterFile, Signer } from '@packhouse/manifest';

/** One row of a staged block. */
export interface StagedBlock {
  number: number;
  /** `0x` hex, 32 bytes. */
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  transactionCount: number;
  proofs: readonly Proof[];
  /** Absent: nothing that the network's rules could prove was left out. */
  notProved?: readonly NotProved[];
  /** Client of the upstream that it came from (web3_clientVersion); absent or null: unknown. */
  client?: string | null;
}

/** Fragments of one kind. */
export interface StagedKind {
  kind: Kind;
  fragments: readonly Fragment[];
}

/** The data that a job stages in one transaction; all within one segment (see SEGMENT_BLOCKS). */
export interface StageRequest {
  /** Consecutive. */
  blocks: readonly StagedBlock[];
  /** Each kind's fragments cover exactly `blocks`. */
  kinds: readonly StagedKind[];
}

/** A published bundle: one row of the range index. */
export interface BundleRow {
  network: string;
  kind: Kind;
  start: number;
  end: number;
  objectKey: string;
  /** Bytes of the gzip file. */
  byteLength: number;
  /** Bytes of the JSON inside. */
  rawLength: number;
  /** Hex. */
  sha256: string;
  /** Hash of block `start`, `0x` hex. */
  firstHash: string;
  /** Parent hash of block `start`. */
  firstParentHash: string;
  /** Hash of block `end`. */
  lastHash: string;
  proofs: readonly Proof[];
  /** What of some block was not proved, each reason once; absent: nothing. */
  notProved?: readonly NotProved[];
  /** In order, covering start..end without a gap. */
  fragments: readonly FragmentInfo[];
  formatVersion: number;
  /** 1, or one more than that of the bundle it superseded. */
  version: number;
  publishedAt: Date;
}

/** What a list of files says of a published bundle. */
export type PublishedFile = Pick<BundleRow, 'start' | 'end' | 'byteLength' | 'sha256' | 'version'>;

/** A published bundle and its filter. */
export interface FilteredFile extends BlockRange {
  /** Of the bundle, hex. */
  sha256: string;
  objectKey: string;
  /** null: it has none. */
  filter: FilterFile | null;
}

/** A bundle to publish; version and time are set when it is published. */
export type NewBundle = Omit<BundleRow, 'network' | 'publishedAt' | 'version'> & {
  /** Its filter, if it has one. */
  filter?: FilterFile;
};

/** Data of a network, with its name. */
export type Named<T> = T & { network: string };

/** Data for the manifest entry of a bundle, appended in the transaction that publishes it. */
export interface Sealing {
  /** Its key must be the database's current one. */
  signer: Signer;
  /** Clients of the upstreams that the blocks came from (web3_clientVersion). */
  clients: readonly string[];
}

/** The public half of a key that entries of the manifest are signed with. */
export interface SigningKeyRow {
  /** First 16 hex digits of the SHA-256 of the public key. */
  keyId: string;
  /** 32 raw bytes. */
  publicKey: Buffer;
  createdAt: Date;
  /** null: it is the one in use. */
  retiredAt: Date | null;
}

/** The result of asking one upstream for a quarantined block. */
export interface QuarantineTry {
  upstream: string;
  /** Error code of the catalogue. */
  cause: string;
  message: string;
  /** Hex SHA-256 of the answer that failed a check. */
  payloadDigest: string | null;
}

/** One block that could not be fetched or failed a check, or several in a row that fail alike. */
export interface QuarantineRow {
  network: string;
  /** The first block. */
  number: number;
  /** The last block. */
  end: number;
  /** The kinds that fail; other kinds of the block are staged and published. */
  kinds: readonly Kind[];
  /** Error code of the catalogue. */
  cause: string;
  message: string;
  upstream: string | null;
  /** Hex SHA-256 of the answer that failed, if there was one. */
  payloadDigest: string | null;
  attempts: number;
  firstSeen: Date;
  nextTry: Date;
  /** Whether `nextTry` had come when the row was read, by the clock of Postgres. */
  due: boolean;
  /** Results of the last try, in the order the upstreams were asked; of several blocks, those of the first. */
  tried: readonly QuarantineTry[];
}

export interface HeadRow {
  network: string;
  number: number;
  hash: string;
  /** -1 if nothing is final yet. */
  finalized: number;
  observedAt: Date;
}

/** Something that an operator must be told loudly, by name. */
export interface AlarmRow {
  id: number;
  network: string;
  /** In capitals, as error codes are: `REORG_BELOW_FINALITY`. */
  name: string;
  message: string;
  data: Record<string, unknown>;
  raisedAt: Date;
  /** null: open. */
  clearedAt: Date | null;
  clearedBy: 'operator' | 'itself' | null;
}

/** Coverage of one kind of one network; all ranges inclusive, ascending, disjoint. */
export interface Coverage {
  staged: readonly BlockRange[];
  published: readonly BlockRange[];
  quarantined: readonly BlockRange[];
}

/** Limits of a key. Requests are counted in units: each counts as its cost. */
export interface Plan {
  name: string;
  /** Highest block that bundles and downloads may touch; null: all. */
  maxBlock: number | null;
  requestsPerSecond: number;
  /** Of a day in UTC; null: no limit. */
  requestsPerDay: number | null;
  /** Of a calendar month in UTC; null: no limit. */
  requestsPerMonth: number | null;
  /** Calls a second of single methods, whatever they cost. */
  methodsPerSecond: Readonly<Record<string, number>>;
}

export interface KeyRow {
  id: number;
  /** `ph_` + 8 letters and digits: may be shown. */
  prefix: string;
  application: string;
  /** null: all networks. */
  network: string | null;
  plan: Plan;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Browser origins that may use it: `https://app.example.com`, `*.example.com`; empty: all, and other clients. */
  origins: readonly string[];
  /** Addresses of clients that may use it, in CIDR notation; empty: all. */
  addresses: readonly string[];
  /** JSON-RPC methods, and `bundle-api`, `download`, `nft`, `usage`, that it allows; empty: all. */
  methods: readonly string[];
}

/** A scheduled audit of a sample of a network's bundles. */
export interface AuditRun {
  network: string;
  finishedAt: Date;
  bundles: number;
  bytesRead: number;
  findings: number;
}

/** The place of a block's data of one kind. */
export type BlockLocation =
  | { state: 'published'; bundle: BundleRow }
  /** `notProved` as in StagedBlock. */
  | { state: 'staged'; fragment: FragmentInfo; notProved?: readonly NotProved[] }
  | { state: 'absent' };

/**
 * Staging is cut into segments of this many blocks, aligned at multiples of it: a segment is a partition of
 * the staging tables and is dropped whole. No job, fragment or stage request crosses a segment's border.
 */
export const SEGMENT_BLOCKS = 1_024;
