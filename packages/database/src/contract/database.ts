import type { FragmentInfo } from '@packhouse/bundle';
import type { BlockRange, Kind, NotProved } from '@packhouse/chain';
import type { FilterFile, SealedEntry, Signer } from '@packhouse/manifest';
import type { Budgets } from './budgets.js';
import type { Changes } from './changes.js';
import type { Holes, NetworkStanding } from './holes.js';
import type { Keys, Plans } from './keys.js';
import type { Nft } from './nft.js';
import type { Nodes } from './nodes.js';
import type { Operators } from './operators.js';
import type {
  AlarmRow,
  AuditRun,
  BlockLocation,
  BundleRow,
  Coverage,
  FilteredFile,
  HeadRow,
  NewBundle,
  PublishedFile,
  QuarantineRow,
  QuarantineTry,
  Sealing,
  SigningKeyRow,
  StagedBlock,
  StageRequest,
} from './rows.js';
import type { Schedules } from './schedules.js';
import type { Spending } from './spending.js';
import type { UnitsUsed, UsageCount, UsageGroup, UsageSum } from './usage.js';
import type { AllWanted, Wanted } from './wanted.js';
import type { Workers } from './workers.js';

/** Everything that Packhouse keeps in Postgres. Every method throws DATABASE_UNAVAILABLE if Postgres is unreachable. */
export interface Database {
  /** Throws DATABASE_NEWER or DATABASE_NOT_MIGRATED if the schema does not fit this program. */
  checkSchema(): Promise<void>;
  /** Whether a trivial query is answered within 2 s. */
  ping(): Promise<boolean>;

  networks: {
    /** Stores the network; its id never changes. Throws NODE_WRONG_CHAIN if it is stored with another chain id. */
    register(network: { id: string; chainId: number }): Promise<void>;
    list(): Promise<{ id: string; chainId: number }[]>;
  };

  /**
   * The data of one network, by the name it is registered under. For a name that was never registered, reads find
   * nothing and writes throw NETWORK_UNKNOWN.
   */
  network(id: string): NetworkDatabase;

  wanted: AllWanted;

  alarms: {
    /** Alarms of all networks; see NetworkDatabase. */
    list(options?: { cleared?: boolean }): Promise<AlarmRow[]>;
  };

  staging: {
    /** Bytes on disk of all staging partitions. */
    diskBytes(): Promise<number>;
  };

  bundles: {
    /** Bundles superseded so far: if it changes, remembered rows of the index may be out of date. */
    supersededCount(): Promise<number>;
  };

  quarantine: {
    /** Rows of all networks, by network and block. */
    list(page?: QuarantinePage): Promise<QuarantineRow[]>;
    /** Rows and blocks by network and cause. */
    causes(): Promise<{ network: string; cause: string; entries: number; blocks: number }[]>;
  };

  /** How far each network is, by name: one statement, whatever their number. */
  standings(): Promise<NetworkStanding[]>;

  /** The keys that sign the manifests of all networks. */
  manifest: {
    /** All keys, the oldest first. */
    keys(): Promise<SigningKeyRow[]>;
    /** Makes a key the current one if there is none yet. Returns the current key. */
    registerKey(publicKey: Buffer): Promise<SigningKeyRow>;
    /** Retires the current key and makes this one current, in one transaction. Repeating it changes nothing. */
    rotateKey(publicKey: Buffer): Promise<SigningKeyRow>;
    /** How many published bundles wait for their entry, by network and kind; empty: none. */
    pending(): Promise<{ network: string; kind: Kind; entries: number }[]>;
  };

  /** Filters of the JSON-RPC interface, shared by all gateways. Ids are 16 bytes; expired filters are not found. */
  filters: {
    /** Returns false if the key has `maxOfKey` filters already. */
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
    /** Compare and set: returns the new version; null if the filter changed since `version` was read, or is gone. */
    update(filter: { id: Buffer; version: number; state: string; ttlMs: number }): Promise<number | null>;
    /** Returns false if this key has no such filter. */
    remove(filter: { id: Buffer; network: string; keyId: number }): Promise<boolean>;
    /** Filters that have not expired, by network. */
    count(): Promise<ReadonlyMap<string, number>>;
    /** Deletes expired filters. */
    sweep(): Promise<void>;
    /** Numbers hashes of pending transactions in this order; a known hash keeps its number as long as it is seen. */
    addPending(network: string, hashes: readonly string[]): Promise<void>;
    /** The number of the newest hash; 0 if there is none. */
    newestPending(network: string): Promise<number>;
    /** The hashes after a number, in order, and the number of the last of them. */
    pendingAfter(
      network: string,
      sequence: number,
      limit: number,
    ): Promise<{ hashes: string[]; sequence: number }>;
  };

  /** The newest block numbers that gateways told clients; `network` is any name that they agree on. */
  tips: {
    /**
     * Raises a number, which counts for `holdMs` after it was raised last. Returns the one that counts: a higher one that
     * another gateway told, or this.
     */
    raise(
      network: string,
      tag: 'latest' | 'safe' | 'finalized',
      number: number,
      holdMs: number,
    ): Promise<number>;
    /** The numbers that count, and the ids of the gateways that are there. */
    read(
      network: string,
    ): Promise<{ latest?: number; safe?: number; finalized?: number; gateways: readonly string[] }>;
    /** Notes that a gateway is there for so many milliseconds. */
    announce(network: string, id: string, forMs: number): Promise<void>;
  };

  /** Jobs that refresh tokens' metadata. */
  nft: Nft;

  workers: Workers;
  nodes: Nodes;

  changes: Changes;
  operators: Operators;

  spending: Spending;
  schedules: Schedules;

  budgets: Budgets;

  keys: Keys;
  plans: Plans;

  /** What keys used. Days are days since 1970-01-01 in UTC. */
  usage: {
    /**
     * Adds counts in one statement. Returns the units of each of these keys on each of these days so far, and in the
     * calendar month (UTC) of that day.
     */
    add(counts: readonly UsageCount[]): Promise<UnitsUsed[]>;
    /** Units of a key on a day, and in its calendar month. */
    units(keyId: number, day: number): Promise<UnitsUsed>;
    /** Sums of these keys (default: all) from day `since` to day `until`, ascending by name. */
    sums(asked: {
      keyIds?: readonly number[];
      since: number;
      until: number;
      by: UsageGroup;
    }): Promise<UsageSum[]>;
    /** Deletes what is older than `days`, by the database's clock. */
    forget(days: number): Promise<void>;
  };

  /** Takes a session lock; null if another has it. On `release` or a lost connection it ends and `lost` is aborted. */
  tryLock(name: string): Promise<{ release(): Promise<void>; lost: AbortSignal } | null>;

  close(): Promise<void>;
}

/** A part of a list of quarantined blocks. */
export interface QuarantinePage {
  /** Error code. */
  cause?: string | undefined;
  /** The page begins after this row. */
  after?: { network: string; number: number } | undefined;
  limit?: number | undefined;
}

/** The data of one network. */
export interface NetworkDatabase {
  wanted: Wanted;

  head: {
    set(head: Omit<HeadRow, 'network' | 'observedAt'>): Promise<void>;
    get(): Promise<HeadRow | null>;
    /** The highest final block that was stored with its hash: it must stay in the chain for ever. */
    anchor(): Promise<{ number: number; hash: string } | null>;
    /** Replaces the anchor; null removes it. Does nothing if no head is stored. */
    setAnchor(anchor: { number: number; hash: string } | null): Promise<void>;
  };

  alarms: {
    /**
     * Opens an alarm, or updates message and data of the open one of this network and name. `isNew` is true for
     * exactly one of concurrent callers. Throws NETWORK_UNKNOWN.
     */
    raise(alarm: {
      name: string;
      message: string;
      data?: Record<string, unknown>;
    }): Promise<{ alarm: AlarmRow; isNew: boolean }>;
    /** Closes the open alarm of this name; null if none is open. */
    clear(name: string, by: 'operator' | 'itself'): Promise<AlarmRow | null>;
    /** Open alarms (with `cleared` also past ones, 1,000 at most), newest first. Sets the gauge `packhouse_alarm`. */
    list(options?: { cleared?: boolean }): Promise<AlarmRow[]>;
  };

  staging: {
    /**
     * Stages blocks in one transaction under the segment's lock. Checks parent links against the staged and published
     * neighbours on both sides and the hashes of blocks staged before. Skips what is already staged or published of
     * each kind and writes the rest by binary COPY. Repeating it changes nothing. Throws STAGE_CONFLICT if hashes do
     * not match (data: {number, expected, got, by, published}: the expected hash comes from block `by`, which is in a
     * bundle if `published`).
     */
    stage(request: StageRequest): Promise<{ staged: boolean }>;
    /** Rows of staged blocks within the range, ascending. */
    blocks(range: BlockRange): Promise<StagedBlock[]>;
    /** The highest staged block, or null. */
    newest(): Promise<StagedBlock | null>;
    /** Fragments without bodies that overlap the range, ascending. */
    fragments(kind: Kind, range: BlockRange): Promise<FragmentInfo[]>;
    /**
     * The bodies of fragments by their start blocks, in that order; with `crcs` only those with these checksums, since
     * another fragment may begin there by now. Throws STAGE_CONFLICT if one is gone.
     */
    bodies(kind: Kind, startBlocks: readonly number[], crcs?: readonly number[]): Promise<Buffer[]>;
    /**
     * Reads the bodies of fragments to these places, each as long as its body. Returns their items (Piece.items of
     * packages/bundle; null: not known). Throws STAGE_CONFLICT if a fragment is gone.
     */
    readInto(
      kind: Kind,
      fragments: readonly FragmentInfo[],
      places: readonly Buffer[],
    ): Promise<(Buffer | null)[]>;
    /** Drops staged data from `start` up (a reorganisation) and stores the hashes as abandoned, in one transaction. */
    abandon(start: number): Promise<{ abandoned: number }>;
    /** The abandoned hash of this block number; null if there is none or another block replaced it. */
    abandonedAt(number: number): Promise<{ hash: string; at: Date } | null>;
    /**
     * Drops the staging partitions of segments in which every fragment of every kind is covered by a published
     * bundle, which frees disk space. Returns the segments' start blocks.
     */
    reclaim(): Promise<number[]>;
  };

  bundles: {
    /**
     * Inserts the index row and, in the same transaction, appends its entry to the manifest; without `sealing` the
     * entry waits for `manifest.sealPending`. Throws BUNDLE_OVERLAP if another bundle covers one of its
     * blocks, SIGNING_KEY_CHANGED if the signer's key is not the current one.
     */
    publish(bundle: NewBundle, sealing?: Sealing): Promise<void>;
    /**
     * Replaces a bundle by a newer version in one transaction: the old row moves to the superseded ones, the new one
     * gets the next version, and the manifest gets an entry that names the superseded file. Repeating it changes
     * nothing. The new bundle must have the same range and another object key. Throws BUNDLE_CHANGED if `replaces`
     * (hex SHA-256) is no longer the current file of this range, SIGNING_KEY_CHANGED.
     */
    supersede(
      bundle: NewBundle,
      options: { replaces: string; reason: string; sealing?: Sealing },
    ): Promise<BundleRow>;
    /** The bundle that covers the block, or null. */
    covering(kind: Kind, number: number): Promise<BundleRow | null>;
    /** Ranges of the bundles that touch start..end, ascending: less data than `list`, for caches. */
    ranges(kind: Kind, range: BlockRange): Promise<BlockRange[]>;
    /** The first `limit` bundles that touch start..end, ascending, with what a list of files says of them. */
    files(kind: Kind, range: BlockRange, limit: number): Promise<PublishedFile[]>;
    /** Of these ranges, the ones with blocks that are not wholly proved. */
    notProved(kind: Kind, range: BlockRange): Promise<(BlockRange & { notProved: NotProved[] })[]>;
    /** What is not proved in some published bundle of any kind, each reason once; 32 at most. */
    reasonsNotProved(): Promise<NotProved[]>;
    /** Whole rows in ascending order, `limit` at most, beginning at or after `from`. */
    list(kind: Kind, from: number, limit: number): Promise<BundleRow[]>;
    /** Totals for status. */
    totals(kind: Kind): Promise<{ bundles: number; blocks: number; bytes: number; newestAt: Date | null }>;
  };

  /** The filters of the bundles (docs/formats.md); those of new ones are put by `bundles.publish` and `supersede`. */
  bundleFilters: {
    /** The first `limit` bundles that touch the range, ascending, each with its filter. */
    of(kind: Kind, range: BlockRange, limit: number): Promise<FilteredFile[]>;
    /** Adds the filter of a bundle, or replaces it. */
    put(bundle: Pick<BundleRow, 'kind' | 'start' | 'version' | 'sha256'>, filter: FilterFile): Promise<void>;
  };

  manifest: {
    /** Entries after `after` (-1: from the first), `limit` at most, in order. */
    entries(kind: Kind, after: number, limit: number): Promise<SealedEntry[]>;
    /** The entries with these sequences that there are, in order. */
    entriesAt(kind: Kind, sequences: readonly number[]): Promise<SealedEntry[]>;
    /** Sequences of the entries after `after` up to `last` that touch a range, ascending, `limit` at most. */
    touching(
      kind: Kind,
      range: BlockRange,
      within: { after: number; last: number; limit: number },
    ): Promise<number[]>;
    /** Sequence and hash of the newest entry, or null. */
    tip(kind: Kind): Promise<{ sequence: number; hash: string } | null>;
    /**
     * Appends the entries of bundles that were published without one, at most `limit`, in one transaction. Returns
     * their number; 0: none is left. Throws SIGNING_KEY_CHANGED.
     */
    sealPending(kind: Kind, signer: Signer, limit: number): Promise<number>;
  };

  /** Finds one block, in bundles first. */
  locate(kind: Kind, number: number): Promise<BlockLocation>;

  /** Coverage within `within`; default: everything, of which what is published is read only where it changed. */
  coverage(kind: Kind, within?: BlockRange): Promise<Coverage>;
  /** Coverage of some kinds in one statement, as of one moment. */
  coverages(kinds: readonly Kind[], within?: BlockRange): Promise<Map<Kind, Coverage>>;
  /** Coverage for operators: what is not published and why, a page at a time. */
  holes: Holes;

  quarantine: {
    /**
     * Adds or updates a row: attempts + 1 if its next try was due, nextTry by back-off (1 min doubling to 1 day, plus
     * up to a tenth). `end` is the last block if several fail alike; overlapping rows are merged into the new one, and
     * adjacent rows of the same cause, kinds and attempts. `probed`: the row is a cause, of which one block is tried
     * every few minutes; adjacent rows of it are merged whatever their attempts.
     */
    put(
      row: Omit<QuarantineRow, 'network' | 'attempts' | 'firstSeen' | 'nextTry' | 'due' | 'end' | 'tried'> & {
        end?: number;
        tried?: readonly QuarantineTry[];
        probed?: boolean;
      },
    ): Promise<QuarantineRow>;
    /** Removes these kinds from the rows of the range, as they are staged by now. */
    settle(range: BlockRange, kinds: readonly Kind[]): Promise<void>;
    /** Makes the rows that touch the range, or those of one cause, due now. Returns the number of blocks of the range in them. */
    retry(range: BlockRange, cause?: string): Promise<number>;
    /** By block. */
    list(page?: QuarantinePage): Promise<QuarantineRow[]>;
    /** The rows that touch the range, ascending. */
    within(range: BlockRange): Promise<QuarantineRow[]>;
    /** Due rows up to block `finalized` that are still wanted, oldest first. */
    due(at: { finalized: number; limit: number }): Promise<QuarantineRow[]>;
    /** Rows and blocks by cause. */
    causes(): Promise<{ cause: string; entries: number; blocks: number }[]>;
  };

  /** Whether fetching for a network is stopped because the staging area is full. */
  pressure: {
    note(pressure: { stagedBytes: number; limitBytes: number }): Promise<void>;
    clear(): Promise<void>;
    get(): Promise<{ since: Date; stagedBytes: number; limitBytes: number } | null>;
  };

  /** Data of audits beside the range index. */
  audit: {
    /** The object keys, superseded ones included, of the bundles that start at one of these blocks. */
    knownKeys(kind: Kind, starts: readonly number[]): Promise<Set<string>>;
    /** Superseded bundles by kind; kinds without any are left out. */
    superseded(): Promise<{ kind: Kind; count: number }[]>;
    /** Stores the result of a scheduled audit. Throws NETWORK_UNKNOWN. */
    note(run: Omit<AuditRun, 'network'>): Promise<void>;
    /** The last stored audit, or null. */
    last(): Promise<AuditRun | null>;
  };
}
