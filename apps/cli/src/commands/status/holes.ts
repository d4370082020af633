import { KINDS, type Kind } from '@packhouse/chain';
import type { Hole } from '@packhouse/database';
import { listNetworks, readCoverage } from '@packhouse/operations';
import { type CoveragePage, holeNeeds } from '@packhouse/report';
import { operate } from '../../installation/operate.js';
import type { Place } from '../../terminal/command.js';
import { formatCount, toPublicRange } from '../../terminal/format.js';
import { type CliIo, print } from '../../terminal/io.js';
import { checkRange, parseBlockNumber, parseKinds, usageError } from '../../terminal/parse.js';
import { table } from '../../terminal/table.js';
import { describeStanding } from './lines.js';

/** The options of `packhouse status --holes`. */
export interface HolesOptions {
  kinds?: string;
  from?: string;
  to?: string;
  limit?: string;
}

/** Maximum holes per kind on a screen, and in a line of JSON. */
const SCREEN_LIMIT = 50;
const JSON_LIMIT = 1_000;

/** Prints published ranges and holes: one page for people, or all pages as JSON lines. */
export async function showHoles(
  io: CliIo,
  options: HolesOptions & Place & { network?: string },
): Promise<void> {
  const asked = readOptions(options);
  const limit = options.limit ?? (options.json ? JSON_LIMIT : SCREEN_LIMIT);
  let queueSeen = true;
  const { kinds } = asked;
  const all = options.network === undefined ? await operate(io, options, listNetworks, {}) : [];
  const networks = options.network === undefined ? all.map(({ id }) => id) : [options.network];
  for (const [at, network] of networks.entries()) {
    if (!options.json && at > 0) await print(io, '');
    let cursor: number | undefined;
    // The range of the first page holds for all pages, even if the head moves.
    let { to } = asked;
    do {
      const input = { network, ...asked, kinds: kinds && [...kinds], to, limit, cursor };
      const { page, firstRequested } = await operate(io, options, readCoverage, input);
      to = page.to;
      if (options.json) await print(io, toPublicPage(page));
      else {
        await print(io, describeStanding({ ...page, firstRequested }));
        await print(
          io,
          page.kinds.length === 0 ? 'No blocks are requested or published.' : describePage(page),
        );
        queueSeen &&= page.queueSeen;
        if (page.next !== null) {
          const end = options.to === undefined ? '' : ` --to ${page.to}`;
          await print(io, `More holes: add --network ${network} --from ${page.next}${end}.`);
        }
      }
      // A program gets all pages, or an error.
      io.signal.throwIfAborted();
      cursor = options.json ? (page.next ?? undefined) : undefined;
    } while (cursor !== undefined);
  }
  if (!options.json && !queueSeen) {
    await print(
      io,
      '\nThe queue is unavailable: queued and fetching are shown as waiting, packing as staged.',
    );
  }
}

function toPublicPage({ range, kinds, ...page }: CoveragePage): object {
  return {
    ...page,
    range: toPublicRange(range),
    kinds: kinds.map(({ published, holes, ...kind }) => ({
      ...kind,
      published: published.map(toPublicRange),
      holes: holes.map(toPublicRange),
    })),
  };
}

function readOptions({ kinds, from, to }: HolesOptions): {
  kinds: readonly Kind[] | undefined;
  from: number | undefined;
  to: number | undefined;
} {
  const range = {
    from: from === undefined ? undefined : parseBlockNumber(from, '--from'),
    to: to === undefined ? undefined : parseBlockNumber(to, '--to'),
  };
  if (range.to !== undefined) checkRange(range.from ?? 0, range.to);
  return { kinds: kinds === undefined ? undefined : parseKinds(kinds), ...range };
}

/** Refuses options that mean nothing without --holes. */
export function refuseWithoutHoles(options: HolesOptions): void {
  const given = (['kinds', 'from', 'to', 'limit'] as const).find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw usageError(
    `--${given} needs --holes.`,
    `For example packhouse status --holes --${given} ${options[given]}.`,
  );
}

interface Line {
  firstBlock: number;
  lastBlock: number;
  state: string;
  needs: string;
  kinds: Kind[];
}

/** A page of coverage as a table in block order. Kinds of one state share a line; lines overlap if kinds differ. */
function describePage(page: CoveragePage): string {
  const all = page.kinds.length;
  const rows = toLines(page).map(({ firstBlock, lastBlock, state, needs, kinds }) => [
    `${firstBlock}-${lastBlock}`,
    formatCount(lastBlock - firstBlock + 1),
    kinds.length === all && all > 1 ? 'all' : kinds.join(','),
    state,
    needs,
  ]);
  return table([['RANGE', 'BLOCKS', 'KINDS', 'STATE', 'NEXT STEP'], ...rows]);
}

function toLines(page: CoveragePage): Line[] {
  const lines = new Map<string, Line>();
  const add = (kind: Kind, line: Omit<Line, 'kinds'>): void => {
    const name = `${line.firstBlock} ${line.lastBlock} ${line.state} ${line.needs}`;
    const there = lines.get(name);
    if (there === undefined) lines.set(name, { ...line, kinds: [kind] });
    else there.kinds.push(kind);
  };
  for (const { kind, published, holes } of page.kinds) {
    for (const { firstBlock, lastBlock } of published)
      add(kind, { firstBlock, lastBlock, state: 'published', needs: '' });
    for (const hole of holes) {
      add(kind, {
        firstBlock: hole.firstBlock,
        lastBlock: hole.lastBlock,
        state: toState(hole),
        needs: holeNeeds(hole),
      });
    }
  }
  const first = ({ kinds }: Line): number => KINDS.indexOf(kinds[0] as Kind);
  return [...lines.values()].sort((a, b) => a.firstBlock - b.firstBlock || first(a) - first(b));
}

function toState({ reason, staged }: Hole): string {
  return staged && reason === 'not-finalized' ? 'not-finalized (staged)' : reason;
}
