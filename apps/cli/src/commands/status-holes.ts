import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { coverage } from '@packhouse/pipeline';
import type { QueueReader } from '@packhouse/queue';
import { PackhouseError } from '@packhouse/runtime';
import { describePage } from '../coverage/describe-page.js';
import { describeStanding } from '../coverage/describe-summary.js';
import { type CliIo, print } from '../io.js';
import { checkRange, parseBlockNumber, parseInteger, parseKinds } from '../parse.js';

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

/** Shows exact published ranges and holes of these networks: one page for people, all of them as JSON lines. */
export async function showHoles(
  io: CliIo,
  parts: { database: Database; queue: QueueReader; networks: readonly string[] },
  options: HolesOptions,
): Promise<void> {
  const asked = readOptions(options);
  const limit =
    options.limit === undefined
      ? options.json
        ? JSON_LIMIT
        : SCREEN_LIMIT
      : parseInteger(options.limit, '--limit', 1, MAX_LIMIT);
  let queueSeen = true;
  for (const [at, network] of parts.networks.entries()) {
    if (!options.json && at > 0) print(io, '');
    const { firstWanted } = await parts.database.network(network).holes.standing();
    let start: number | undefined;
    // The end of the first page's range holds for all of them, however the head moves.
    let { to } = asked;
    do {
      const page = await coverage(parts, { network, ...asked, to, limit, start });
      to = page.to;
      if (options.json) print(io, page);
      else {
        print(io, describeStanding({ ...page, firstWanted }));
        print(io, page.kinds.length === 0 ? 'Nothing is wanted or published.' : describePage(page));
        queueSeen &&= page.queueSeen;
        if (page.next !== null) {
          const end = options.to === undefined ? '' : ` --to ${page.to}`;
          print(io, `There is more: add --network ${network} --from ${page.next}${end}.`);
        }
      }
      // What a reader may still want is never more than a page away; a program wants all of it.
      start = options.json && !io.signal.aborted ? (page.next ?? undefined) : undefined;
    } while (start !== undefined);
  }
  if (!options.json && !queueSeen) {
    print(io, '\nThe queue cannot be read: queued and fetching show as waiting, packing as staged.');
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

/** Options that mean nothing without --holes are refused. */
export function refuseWithoutHoles(options: HolesOptions): void {
  const given = (['kind', 'from', 'to', 'limit'] as const).find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw new PackhouseError({
    code: 'USAGE',
    message: `--${given} says which holes are shown and needs --holes.`,
    hint: `For example packhouse status --holes --${given} ${options[given]}.`,
  });
}
