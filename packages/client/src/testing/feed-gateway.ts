import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Kind, toQuantity } from '@packhouse/chain';
import { type FeedStep, newBlockFile } from '@packhouse/manifest';
import { refuse, sendFile, startTestGateway, type TestGateway } from './test-gateway.js';

/** A block of the scripted chain. */
interface Scripted {
  block: number;
  hash: string;
  parent: string;
}

/** A scripted chain behind a gateway in this process, with a feed as docs/feed.md has it. */
export interface FeedGateway {
  gateway: TestGateway;
  /** The canonical chain; its index is the block's number. */
  chain: Scripted[];
  /** Adds blocks to the head. */
  mine(blocks: number): void;
  /** Replaces the newest blocks by others, and adds one. */
  reorganise(depth: number): void;
  /** Publishes the next blocks of a kind as one file; they are final from then on. */
  pack(kind: Kind, blocks: number): void;
  /** Publishes the file with this first block again, without the last log of each of its blocks. */
  repair(kind: Kind, start: number): void;
  finalise(block: number): void;
  /** Blocks that are missing, with the reason; null: none. */
  hole: { block: number; reason: string } | null;
  /** Answers in place of the feed. */
  onFeed: ((response: ServerResponse) => boolean) | null;
  /** Rows of logs that a follower of all must have, as `block:hash:index`. */
  logs(): string[];
  /** Files sent so far, by their paths. */
  downloads(): string[];
}

/** Milliseconds that a request waits at the head: long enough to be woken, short enough for tests. */
const HOLD_MS = 40;
const MAX_STEPS = 7;

interface Packed {
  from: number;
  to: number;
}

interface Cursor {
  next: Partial<Record<Kind, number>>;
  last: { block: number; hash: string } | null;
  final: number;
  repairs: number;
}

const digest = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;
const pack = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64url');

/** Starts a gateway with the genesis block alone. How many logs a block has varies by its hash. */
export async function startFeedGateway(kinds: readonly Kind[] = ['logs']): Promise<FeedGateway> {
  const [first, ...others] = await Promise.all(kinds.map((kind) => startTestGateway(kind)));
  const gateway = first as TestGateway;
  gateway.others = others;
  // Of no known rules: the headers of scripted blocks hash to something else.
  for (const each of [gateway, ...others]) each.chainId = 424_242;
  const of = (kind: Kind): TestGateway =>
    [gateway, ...others].find((each) => each.kind === kind) as TestGateway;
  const abandoned = new Map<string, Scripted>();
  /** Blocks without their last log, in files that were published again. */
  const repaired = new Set<number>();
  const repairs: { kind: Kind; start: number }[] = [];
  const packed = new Map<Kind, Packed[]>(kinds.map((kind) => [kind, []]));
  const fileOf = (kind: Kind, fits: (file: Packed) => boolean): Packed =>
    packed.get(kind)?.find(fits) ?? { from: 0, to: -1 };
  const waiters = new Set<() => void>();
  let forks = 0;
  const wake = (): void => {
    for (const each of waiters) each();
  };
  const add = (): void => {
    const block = feed.chain.length;
    const parent = feed.chain.at(-1)?.hash ?? digest('nothing');
    feed.chain.push({ block, hash: digest(`block ${block} of ${forks}`), parent });
  };
  let final = -1;

  const feed: FeedGateway = {
    gateway,
    chain: [],
    hole: null,
    onFeed: null,
    mine(blocks) {
      for (let n = 0; n < blocks; n += 1) add();
      wake();
    },
    reorganise(depth) {
      for (const gone of feed.chain.splice(feed.chain.length - depth)) abandoned.set(gone.hash, gone);
      forks += 1;
      for (let n = 0; n <= depth; n += 1) add();
      wake();
    },
    pack(kind, blocks) {
      const list = packed.get(kind) as Packed[];
      const from = (list.at(-1)?.to ?? -1) + 1;
      const to = from + blocks - 1;
      list.push({ from, to });
      publish(kind, from, to);
      final = Math.max(final, to);
      wake();
    },
    repair(kind, start) {
      const { from, to } = fileOf(kind, (file) => file.from === start);
      for (let block = from; block <= to; block += 1) repaired.add(block);
      publish(kind, from, to);
      repairs.push({ kind, start });
      wake();
    },
    finalise(block) {
      final = Math.max(final, block);
      wake();
    },
    logs: () =>
      feed.chain.flatMap(({ block, hash }) =>
        logsOf(feed.chain[block] as Scripted, repaired.has(block)).map(
          ({ logIndex }) => `${block}:${hash}:${Number(logIndex)}`,
        ),
      ),
    downloads: () =>
      [gateway, ...others].flatMap(({ requests }) => requests).filter((path) => path.includes('.json.gz')),
  };

  const recordOf = (kind: Kind, at: Scripted, short = false): object =>
    kind === 'blocks' ? blockOf(at) : kind === 'logs' ? logsOf(at, short) : [];
  const publish = (kind: Kind, from: number, to: number): void => {
    const blocks = feed.chain.slice(from, to + 1);
    const text = JSON.stringify(blocks.map((at) => recordOf(kind, at, repaired.has(at.block))));
    const before = of(kind)
      .entries.filter((entry) => entry.from === from)
      .at(-1);
    of(kind).publish(
      from,
      to,
      {
        firstHash: blocks[0]?.hash as string,
        firstParentHash: blocks[0]?.parent as string,
        lastHash: blocks.at(-1)?.hash as string,
        ...(before === undefined ? {} : { version: before.version + 1, supersedes: before.sha256 }),
      },
      text,
    );
  };
  const link = (kind: Kind, hash: string, block: number): string =>
    `${gateway.url}/files/${kind}/${newBlockFile(block, hash)}`;

  /** Steps behind a cursor; it is moved. */
  const stepsOf = (cursor: Cursor, final_: boolean, limit: number): FeedStep[] => {
    const steps: FeedStep[] = [];
    const wanted = Object.keys(cursor.next).sort() as Kind[];
    const push = (step: object): void => {
      steps.push({ ...step, cursor: pack(cursor) } as FeedStep);
    };
    while (cursor.last !== null && feed.chain[cursor.last.block]?.hash !== cursor.last.hash) {
      const gone = abandoned.get(cursor.last.hash) as Scripted;
      const to = { block: gone.block - 1, hash: gone.parent };
      for (const kind of wanted) cursor.next[kind] = Math.min(cursor.next[kind] as number, gone.block);
      cursor.last = to;
      push({ step: 'undo', block: gone.block, hash: gone.hash, to });
    }
    while (cursor.repairs < repairs.length && steps.length < limit) {
      const { kind, start } = repairs[cursor.repairs] as { kind: Kind; start: number };
      cursor.repairs += 1;
      if ((cursor.next[kind] ?? 0) <= start) continue;
      const [old, entry] = of(kind)
        .entries.filter(({ from }) => from === start)
        .slice(-2);
      const range = `${entry?.from}-${entry?.to}`;
      const download_link = `${gateway.url}/files/${kind}/${range}.json.gz`;
      push({ step: 'repaired', kind, range, sha256: entry?.sha256, supersedes: old?.sha256, download_link });
    }
    while (steps.length < limit) {
      const block = Math.min(...wanted.map((kind) => cursor.next[kind] as number));
      const standing = wanted.filter((kind) => cursor.next[kind] === block);
      const at = feed.chain[block];
      const waits = feed.hole?.block === block ? feed.hole.reason : at === undefined ? 'not-produced' : null;
      if (waits !== null || at === undefined) {
        if (steps.length === 0) {
          push({
            step: 'waiting',
            block,
            reason: waits,
            detail: `Block ${block} is missing.`,
            kinds: standing,
          });
        }
        break;
      }
      const own = standing.find((kind) =>
        packed.get(kind)?.some(({ from, to }) => from <= block && to >= block),
      );
      if (own !== undefined) {
        const { from, to } = fileOf(own, (file) => file.to >= block);
        const entry = of(own)
          .entries.filter((each) => each.from === from)
          .at(-1);
        cursor.next[own] = to + 1;
        const range = `${from}-${to}`;
        const download_link = `${gateway.url}/files/${own}/${range}.json.gz`;
        push({
          step: 'bundle',
          kind: own,
          range,
          from: block,
          download_link,
          sha256: entry?.sha256,
          bytes: entry?.bytes,
        });
        continue;
      }
      if (final_ && block > final) {
        if (steps.length === 0) {
          push({ step: 'waiting', block, reason: 'not-final', detail: 'It is not final.', kinds: standing });
        }
        break;
      }
      for (const kind of standing) cursor.next[kind] = block + 1;
      cursor.last = { block, hash: at.hash };
      const files = Object.fromEntries(standing.map((kind) => [kind, link(kind, at.hash, block)]));
      push({ step: 'new', block, hash: at.hash, parent: at.parent, files });
    }
    const delivered = Math.min(final, ...wanted.map((kind) => (cursor.next[kind] as number) - 1));
    if (!final_ && delivered > cursor.final && cursor.last !== null && steps.length < limit) {
      cursor.final = delivered;
      if (steps[0]?.step === 'waiting') steps.length = 0;
      push({ step: 'final', block: delivered, hash: feed.chain[delivered]?.hash });
    }
    return steps;
  };

  const answerFeed = async (path: string, response: ServerResponse): Promise<void> => {
    const { searchParams } = new URL(path, gateway.url);
    const text = searchParams.get('cursor');
    const asked = (searchParams.get('kinds') as string).split(',') as Kind[];
    const from = Number(searchParams.get('from'));
    let cursor: Cursor;
    try {
      cursor =
        text === null
          ? {
              next: Object.fromEntries(asked.map((kind) => [kind, from])),
              last: null,
              final: -1,
              repairs: repairs.length,
            }
          : (JSON.parse(Buffer.from(text, 'base64url').toString()) as Cursor);
    } catch {
      refuse(response, 400, { reason: 'cursor-invalid', detail: 'The cursor was changed.' });
      return;
    }
    const isFinal = searchParams.get('final') === 'only';
    const limit = Math.min(MAX_STEPS, Number(searchParams.get('limit')));
    const copy = (): Cursor => structuredClone(cursor);
    let steps = stepsOf(copy(), isFinal, limit);
    if (steps[0]?.step === 'waiting') {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, HOLD_MS);
        waiters.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
      waiters.clear();
      steps = stepsOf(copy(), isFinal, limit);
    }
    response.end(steps.map((step) => `${JSON.stringify(step)}\n`).join(''));
  };

  gateway.fault = (path, response) => {
    if (path.includes('/bundle-api/feed?')) {
      if (feed.onFeed?.(response) !== true) void answerFeed(path, response);
      return true;
    }
    const [, kind, block, hash] =
      /\/files\/([a-z]+)\/(\d+)-\d+\.json\.gz\?hash=(0x[0-9a-f]+)$/.exec(path) ?? [];
    if (hash === undefined) return false;
    const at = feed.chain[Number(block)];
    if (at?.hash !== hash) refuse(response, 410, { reason: 'reorganised', detail: 'It is gone.' });
    else sendFile(gzipSync(JSON.stringify([recordOf(kind as Kind, at)])), undefined, response);
    return true;
  };
  add();
  return feed;
}

/** None to three logs of a block. */
function logsOf({ block, hash }: Scripted, short: boolean): { logIndex: string }[] {
  const count = Math.max(0, (Number.parseInt(hash.slice(2, 4), 16) % 4) - (short ? 1 : 0));
  return Array.from({ length: count }, (_, index) => ({
    blockNumber: toQuantity(block),
    blockHash: hash,
    transactionIndex: '0x0',
    transactionHash: digest(`transaction of ${hash}`),
    logIndex: toQuantity(index),
    address: `0x${(index + 1).toString().repeat(40)}`,
    topics: [TRANSFER, digest('from').replace(/^0x.{24}/, `0x${'0'.repeat(24)}`), `0x${'0'.repeat(64)}`],
    data: `0x${index.toString(16).padStart(64, '0')}`,
    removed: false,
  }));
}

/** Of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

function blockOf({ block, hash, parent }: Scripted): object {
  const zeros = `0x${'0'.repeat(64)}`;
  return {
    number: toQuantity(block),
    hash,
    parentHash: parent,
    timestamp: toQuantity(1_600_000_000 + 12 * block),
    miner: `0x${'0'.repeat(40)}`,
    gasLimit: '0x1c9c380',
    gasUsed: '0x0',
    transactions: [],
    size: '0x200',
    extraData: '0x',
    logsBloom: `0x${'0'.repeat(512)}`,
    sha3Uncles: zeros,
    transactionsRoot: zeros,
    stateRoot: zeros,
    receiptsRoot: zeros,
  };
}
