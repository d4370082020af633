import { KINDS, type Kind } from '@packhouse/chain';
import type { Hole } from '@packhouse/database';
import { listNetworks, readCoverage } from '@packhouse/operations';
import { type CoveragePage, holeNeeds } from '@packhouse/pipeline';
import { PackhouseError } from '@packhouse/runtime';
import { operate } from '../installation/operate.js';
import { formatCount } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { checkRange, parseBlockNumber, parseInteger, parseKinds } from '../terminal/parse.js';
import { describeStanding } from './status-lines.js';

/** The options of `packhouse status --holes`. */
export interface HolesOptions {
  kind?: string;
  from?: string;
  to?: string;
  limit?: string;
  json?: boolean;
}

/** Holes of a kind on one screen, and in one line of JSON. */
const SCREEN_LIMIT = 50;
const JSON_LIMIT = 1_000;
const MAX_LIMIT = 5_000;

/** Prints published ranges and holes of these networks: one page for people, or all pages as JSON lines. */
export async function showHoles(
  io: CliIo,
  options: HolesOptions & { server?: string; dataDir?: string; network?: string },
): Promise<void> {
  const asked = readOptions(options);
  const limit =
    options.limit === undefined
      ? options.json
        ? JSON_LIMIT
        : SCREEN_LIMIT
      : parseInteger(options.limit, '--limit', 1, MAX_LIMIT);
  let queueSeen = true;
  const { kinds } = asked;
  const all = options.network === undefined ? await operate(io, options, listNetworks, {}) : [];
  const networks = options.network === undefined ? all.map(({ id }) => id) : [options.network];
  for (const [at, network] of networks.entries()) {
    if (!options.json && at > 0) await print(io, '');
    let start: number | undefined;
    // The range of the first page holds for all pages, even if the head moves.
    let { to } = asked;
    do {
      const input = { network, ...asked, kinds: kinds && [...kinds], to, limit, start };
      const { page, firstWanted } = await operate(io, options, readCoverage, input);
      to = page.to;
      if (options.json) await print(io, page);
      else {
        await print(io, describeStanding({ ...page, firstWanted }));
        await print(io, page.kinds.length === 0 ? 'Nothing is wanted or published.' : describePage(page));
        queueSeen &&= page.queueSeen;
        if (page.next !== null) {
          const end = options.to === undefined ? '' : ` --to ${page.to}`;
          await print(io, `There is more: add --network ${network} --from ${page.next}${end}.`);
        }
      }
      // A program gets all pages, or an error.
      io.signal.throwIfAborted();
      start = options.json ? (page.next ?? undefined) : undefined;
    } while (start !== undefined);
  }
  if (!options.json && !queueSeen) {
    await print(io, '\nThe queue cannot be read: queued and fetching show as waiting, packing as staged.');
  }
}

function readOptions({ kind, from, to }: HolesOptions): {
  kinds: readonly Kind[] | undefined;
  from: number | undefined;
  to: number | undefined;
} {
  const range = {
    from: from === undefined ? undefined : parseBlockNumber(from, '--from'),
    to: to === undefined ? undefined : parseBlockNumber(to, '--to'),
  };
  if (range.to !== undefined) checkRange(range.from ?? 0, range.to);
  return { kinds: kind === undefined ? undefined : parseKinds(kind), ...range };
}

/** Refuses options that mean nothing without --holes. */
export function refuseWithoutHoles(options: HolesOptions): void {
  const given = (['kind', 'from', 'to', 'limit'] as const).find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--${given} selects the holes to show and needs --holes.`,
    hint: `For example packhouse status --holes --${given} ${options[given]}.`,
  });
}

interface Line {
  start: number;
  end: number;
  state: string;
  needs: string;
  kinds: Kind[];
}

/** A page of coverage as a table in block order. Kinds of one state share a line; lines overlap if kinds differ. */
function describePage(page: CoveragePage): string {
  const all = page.kinds.length;
  const rows = linesOf(page).map(({ start, end, state, needs, kinds }) => [
    `${start}-${end}`,
    formatCount(end - start + 1),
    kinds.length === all && all > 1 ? 'all' : kinds.join(','),
    state,
    needs,
  ]);
  return table([['RANGE', 'BLOCKS', 'KINDS', 'STATE', 'WHAT IT NEEDS'], ...rows]);
}

function linesOf(page: CoveragePage): Line[] {
  const lines = new Map<string, Line>();
  const add = (kind: Kind, line: Omit<Line, 'kinds'>): void => {
    const name = `${line.start} ${line.end} ${line.state} ${line.needs}`;
    const there = lines.get(name);
    if (there === undefined) lines.set(name, { ...line, kinds: [kind] });
    else there.kinds.push(kind);
  };
  for (const { kind, published, holes } of page.kinds) {
    for (const { start, end } of published) add(kind, { start, end, state: 'published', needs: '' });
    for (const hole of holes) {
      add(kind, { start: hole.start, end: hole.end, state: stateOf(hole), needs: holeNeeds(hole) });
    }
  }
  const first = ({ kinds }: Line): number => KINDS.indexOf(kinds[0] as Kind);
  return [...lines.values()].sort((a, b) => a.start - b.start || first(a) - first(b));
}

function stateOf({ reason, staged }: Hole): string {
  return staged && reason === 'not-finalized' ? 'not-finalized (staged)' : reason;
}
