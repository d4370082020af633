import type { FragmentInfo } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import type { SealedEntry, Signer } from '@packhouse/manifest';
import type { Holes } from './holes.js';
import type { Nft } from './nft.js';
import type {
  AlarmRow,
  AuditRun,
  BlockLocation,
  BundleRow,
  Coverage,
  HeadRow,
  KeyRow,
  NewBundle,
  QuarantineRow,
  QuarantineTry,
  Sealing,
  SigningKeyRow,
  StagedBlock,
  StageRequest,
  WantedRange,
} from './rows.js';

/** Everything that Packhouse keeps in Postgres. Every method throws DATABASE_UNAVAILABLE when Postgres is gone. */
export interface Database {
  /** Throws DATABASE_NEWER or DATABASE_NOT_MIGRATED if the schema does not fit this program. */
  checkSchema(): Promise<void>;
  /** True as long as a trivial query is answered within 2 s. */
  ping(): Promise<boolean>;

  networks: {
    /** Makes the network known; its id is stable from then on. Throws NODE_WRONG_CHAIN if it was known with another chain id. */
    register(network: { id: string; chainId: number }): Promise<void>;
    list(): Promise<{ id: string; chainId: number }[]>;
  };

  /**
   * What is kept of one network, by the name it is registered under. Of a name that was never registered, reads find
   * nothing and writes throw NETWORK_UNKNOWN.
   */
  network(id: string): NetworkDatabase;

  wanted: {
    /** Ranges of all networks, the first to be worked on first. */
    list(): Promise<WantedRange[]>;
    setState(id: number, state: WantedRange['state']): Promise<WantedRange | null>;
  };

  alarms: {
    /** Alarms of all networks; see NetworkDatabase. */
    list(options?: { cleared?: boolean }): Promise<AlarmRow[]>;
  };

  staging: {
    /** Bytes on disk of all staging partitions. */
    diskBytes(): Promise<number>;
  };

  bundles: {
    /** How many bundles were ever superseded: a change tells those who remember rows of the index. */
    supersededCount(): Promise<number>;
  };

  quarantine: {
    /** Rows of all networks, by network and block. */
    list(page?: QuarantinePage): Promise<QuarantineRow[]>;
  };

  /** The keys that sign the manifests of all networks. */
  manifest: {
    /** All keys, the oldest first. */
    keys(): Promise<SigningKeyRow[]>;
    /** Makes a key the current one if there is none yet; returns the one that is current then. */
    registerKey(publicKey: Buffer): Promise<SigningKeyRow>;
    /** Retires the current key and makes this one current, in one transaction. Repeating it changes nothing. */
    rotateKey(publicKey: Buffer): Promise<SigningKeyRow>;
  };

  /** Filters of the JSON-RPC interface, shared by all gateways. Ids are 16 bytes; what has expired is not there. */
  filters: {
    /** False if the key has `maxOfKey` filters already. */
    create(filter: {
      id: Buffer;
      network: string;
      /** Negative: a client without a key. */
      keyId: number;
      state: string;
      ttlMs: number;
      maxOfKey: number;
    }): Promise<boolean>;
    get(id: Buffer): Promise<{ network: string; keyId: number; state: string; version: number } | null>;
    /** Compare and set: false where somebody else wrote since `version` was seen, or it is gone. */
    update(filter: { id: Buffer; version: number; state: string; ttlMs: number }): Promise<boolean>;
    /** False if there is no such filter of this key. */
    remove(filter: { id: Buffer; network: string; keyId: number }): Promise<boolean>;
    /** How many live, by network. */
    count(): Promise<ReadonlyMap<string, number>>;
    /** Deletes what has expired. */
    sweep(): Promise<void>;
    /** Numbers hashes of waiting transactions in this order; known ones keep their number as long as they are seen. */
    addPending(network: string, hashes: readonly string[]): Promise<void>;
    /** The number of the newest; 0 if there is none. */
    newestPending(network: string): Promise<number>;
    /** Those behind a number, in order, and the number of the last of them. */
    pendingAfter(
      network: string,
      sequence: number,
      limit: number,
    ): Promise<{ hashes: string[]; sequence: number }>;
  };

  /** Jobs that refresh tokens' metadata. */
  nft: Nft;

  keys: {
    /** Makes the application if there is none of that name, and a key for it; the secret is returned once and kept as sha256 only. Throws PLAN_UNKNOWN. */
    create(request: {
      application: string;
      network: string | null;
      plan: string;
      expiresAt?: Date | null;
      origins?: readonly string[];
      addresses?: readonly string[];
      methods?: readonly string[];
    }): Promise<{ key: string; row: KeyRow }>;
    /** By the SHA-256 of the whole key. */
    find(sha256: Buffer): Promise<KeyRow | null>;
    list(): Promise<KeyRow[]>;
    /** By id or public prefix; null if there is none. */
    revoke(idOrPrefix: string): Promise<KeyRow | null>;
    /** Adds requests to a day (days since 1970-01-01), each key once; returns what each of these keys has used then. */
    use(
      day: number,
      uses: readonly { keyId: number; requests: number }[],
    ): Promise<ReadonlyMap<number, number>>;
    /** Forgets the days before one. */
    forgetUses(before: number): Promise<void>;
  };

  /** Takes a session lock; null if another session has it. The lock ends with `release` or with the connection; `lost` is aborted then. */
  tryLock(name: string): Promise<{ release(): Promise<void>; lost: AbortSignal } | null>;

  close(): Promise<void>;
}

/** A part of a list of quarantined blocks. */
export interface QuarantinePage {
  /** Error code. */
  cause?: string | undefined;
  /** The row that the page begins behind. */
  after?: { network: string; number: number } | undefined;
  limit?: number | undefined;
}

/** What is kept of one network. */
export interface NetworkDatabase {
  wanted: {
    add(range: Omit<WantedRange, 'id' | 'network' | 'createdAt' | 'state'>): Promise<WantedRange>;
    list(): Promise<WantedRange[]>;
  };

  head: {
    set(head: Omit<HeadRow, 'network' | 'observedAt'>): Promise<void>;
    get(): Promise<HeadRow | null>;
    /** The highest final block that was noted with its hash: the chain must have it for ever. */
    anchor(): Promise<{ number: number; hash: string } | null>;
    /** Notes the anchor in place of the one before; null forgets it. Without a head nothing is noted. */
    setAnchor(anchor: { number: number; hash: string } | null): Promise<void>;
  };

  alarms: {
    /**
     * Opens an alarm, or renews message and data of the one that is open under this network and name. `isNew` is
     * true for exactly one of all who raise it. Throws NETWORK_UNKNOWN.
     */
    raise(alarm: {
      name: string;
      message: string;
      data?: Record<string, unknown>;
    }): Promise<{ alarm: AlarmRow; isNew: boolean }>;
    /** Closes the open alarm of this name; null if none is open. */
    clear(name: string, by: 'operator' | 'itself'): Promise<AlarmRow | null>;
    /** Open alarms (with `cleared` the past ones too, 1,000 at most), newest first. Sets the gauge `packhouse_alarm`. */
    list(options?: { cleared?: boolean }): Promise<AlarmRow[]>;
  };

  staging: {
    /**
     * One transaction under the segment's lock: checks parent links against the staged and published neighbours
     * (on both sides) and the hashes of blocks staged before, leaves out what is already staged or published of
     * each kind, writes the rest by binary COPY. Repeating it changes nothing. Throws STAGE_CONFLICT (data:
     * {number, expected, got, by, published}: `by` is the block that says what is expected, `published` whether a bundle
     * says so) if hashes do not fit.
     */
    stage(request: StageRequest): Promise<{ staged: boolean }>;
    /** Rows of staged blocks within the range, ascending. */
    blocks(range: BlockRange): Promise<StagedBlock[]>;
    /** The highest staged block, or null. */
    newest(): Promise<StagedBlock | null>;
    /** Fragments without bodies that overlap the range, ascending. */
    fragments(kind: Kind, range: BlockRange): Promise<FragmentInfo[]>;
    /**
     * The bodies of fragments by their start blocks, in that order; with `crcs` only those that have these checksums,
     * as another fragment may have come to begin there. Throws STAGE_CONFLICT if one is gone.
     */
    bodies(kind: Kind, startBlocks: readonly number[], crcs?: readonly number[]): Promise<Buffer[]>;
    /** Drops all staged data from `start` up (a reorganisation), remembers their hashes as abandoned. One transaction. */
    abandon(start: number): Promise<{ abandoned: number }>;
    /** Whether this block number was abandoned and nothing took its place since. */
    abandonedAt(number: number): Promise<{ hash: string; at: Date } | null>;
    /**
     * Drops the staging partitions of segments in which every fragment of every kind is covered by a published
     * bundle. Space goes back to the disk. Returns the segments' start blocks.
     */
    reclaim(): Promise<number[]>;
  };

  bundles: {
    /**
     * Inserts the index row and, in the same transaction, appends its entry to the manifest; without `sealing` the
     * entry is left for `manifest.sealPending`. Throws BUNDLE_OVERLAP if another bundle covers one of its
     * blocks, SIGNING_KEY_CHANGED if the signer's key is not the current one.
     */
    publish(bundle: NewBundle, sealing?: Sealing): Promise<void>;
    /**
     * Puts a newer version in the place of a bundle, in one transaction: the old row moves to the superseded ones,
     * the new one gets the next version, the manifest gets an entry that names what it supersedes. Repeating it
     * changes nothing. The bundle must have the same range and an object key of its own. Throws BUNDLE_CHANGED
     * if `replaces` (hex SHA-256) is not the current file of this range any more, SIGNING_KEY_CHANGED.
     */
    supersede(
      bundle: NewBundle,
      options: { replaces: string; reason: string; sealing?: Sealing },
    ): Promise<BundleRow>;
    /** The bundle that covers the block, or null. */
    covering(kind: Kind, number: number): Promise<BundleRow | null>;
    /** Ranges of the bundles that touch start..end, ascending: the light form for caches. */
    ranges(kind: Kind, range: BlockRange): Promise<BlockRange[]>;
    /** Whole rows in ascending order, `limit` at most, beginning at or after `from`. */
    list(kind: Kind, from: number, limit: number): Promise<BundleRow[]>;
    /** Totals for status. */
    totals(kind: Kind): Promise<{ bundles: number; blocks: number; bytes: number; newestAt: Date | null }>;
  };

  manifest: {
    /** Entries after `after` (-1: from the first), `limit` at most, in order. */
    entries(kind: Kind, after: number, limit: number): Promise<SealedEntry[]>;
    /** Sequence and hash of the newest entry, or null. */
    tip(kind: Kind): Promise<{ sequence: number; hash: string } | null>;
    /**
     * Appends the entries of bundles that were published without one, at most `limit`, in one transaction. Returns
     * how many it appended; 0: none is left. Throws SIGNING_KEY_CHANGED.
     */
    sealPending(kind: Kind, signer: Signer, limit: number): Promise<number>;
  };

  /** Where one block is, published first. */
  locate(kind: Kind, number: number): Promise<BlockLocation>;

  /** Coverage within `within` (default: everything). */
  coverage(kind: Kind, within?: BlockRange): Promise<Coverage>;
  /** The same for people: what is not published and why, a page at a time. */
  holes: Holes;

  quarantine: {
    /**
     * Adds or renews: attempts + 1 if its next try was due, nextTry by back-off (1 min doubling to 1 day, and up to
     * a tenth later). `end` is the last block if several fail alike; overlapping rows are merged into the new one.
     */
    put(
      row: Omit<QuarantineRow, 'network' | 'attempts' | 'firstSeen' | 'nextTry' | 'end' | 'tried'> & {
        end?: number;
        tried?: readonly QuarantineTry[];
      },
    ): Promise<QuarantineRow>;
    /** These kinds of the blocks are staged by now: takes them out of the rows of the range. */
    settle(range: BlockRange, kinds: readonly Kind[]): Promise<void>;
    /** Makes the next try of the rows that touch the range due now. Returns how many blocks of the range they hold. */
    retry(range: BlockRange): Promise<number>;
    /** By block. */
    list(page?: QuarantinePage): Promise<QuarantineRow[]>;
    /** The rows that touch the range, ascending. */
    within(range: BlockRange): Promise<QuarantineRow[]>;
    /** The rows up to block `finalized` whose next try is due and which are still wanted, oldest first. */
    due(at: { now: Date; finalized: number; limit: number }): Promise<QuarantineRow[]>;
    /** Rows and blocks by cause. */
    causes(): Promise<{ cause: string; entries: number; blocks: number }[]>;
  };

  /** Whether nothing new is fetched for a network because the staging area is full. */
  pressure: {
    note(pressure: { stagedBytes: number; limitBytes: number }): Promise<void>;
    clear(): Promise<void>;
    get(): Promise<{ since: Date; stagedBytes: number; limitBytes: number } | null>;
  };

  /** What audits need beside the range index. */
  audit: {
    /** The keys of all objects, superseded ones too, of the bundles that start at one of these blocks. */
    knownKeys(kind: Kind, starts: readonly number[]): Promise<Set<string>>;
    /** How many bundles of each kind were superseded; kinds without any are left out. */
    superseded(): Promise<{ kind: Kind; count: number }[]>;
    /** Notes that a network was audited by itself. Throws NETWORK_UNKNOWN. */
    note(run: Omit<AuditRun, 'network'>): Promise<void>;
    /** The audit that was noted last, or null. */
    last(): Promise<AuditRun | null>;
  };
}
