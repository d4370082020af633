import type { BlockRange, Kind } from '@packhouse/chain';
import { kindCode, kindsMask } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import { createMemory } from '../connection/memory.js';
import type { NetworkRef } from '../tables/networks/networks.js';
import { type ChangedChunk, NOTHING_PUBLISHED, type Published, publishedAfter } from './published-cache.js';

/** Coverage of one kind of one network; all ranges inclusive, ascending, disjoint. */
export interface Coverage {
  staged: readonly BlockRange[];
  published: readonly BlockRange[];
  quarantined: readonly BlockRange[];
}

/** Ranges in order as one text: 300,000 rows take the driver seconds. */
const asText = (first: string, last: string): string =>
  `string_agg((${first})::text || '-' || (${last})::text, ' ' ORDER BY ${first})`;

/** What is staged and quarantined of the kind `k.kind` within first..last; $1 network id. */
const unpublished = (first: string, last: string): string => `
  SELECT part, NULL::int8 AS chunk, NULL::int8 AS version, ${asText('lower(range)', 'upper(range) - 1')} AS ranges
  FROM (
    SELECT 'staged' AS part, range_agg(int8range(f.first_block, f.last_block, '[]')) AS ranges
    FROM packhouse.fragment AS f
    WHERE f.network_id = $1 AND f.kind = k.kind AND f.first_block BETWEEN ${first}::int8 - 1023 AND ${last}::int8
    UNION ALL
    SELECT 'quarantined', range_agg(int8range(q.first_block, q.last_block, '[]'))
    FROM packhouse.quarantine AS q
    WHERE q.network_id = $1 AND (q.kinds >> k.kind::int4) & 1 = 1
      AND int8range(q.first_block, q.last_block, '[]') && int8range(${first}::int8, ${last}::int8, '[]')
  ) AS parts,
  unnest(parts.ranges * int8multirange(int8range(${first}::int8, ${last}::int8, '[]'))) AS range
  GROUP BY part`;

/** The published runs of the network and kind that touch first..last, cut there; it reads these only. */
const publishedWithin = (first: string, last: string): string => `
  SELECT ${asText(`greatest(r.first_block, ${first})`, `least(r.last_block, ${last})`)} AS ranges
  FROM packhouse.published_run AS r
  WHERE r.network_id = $1 AND r.kind = k.kind AND r.first_block <= ${last} AND r.last_block >= ${first}
    AND r.first_block >= coalesce((
      SELECT max(b.first_block) FROM packhouse.published_run AS b
      WHERE b.network_id = $1 AND b.kind = k.kind AND b.first_block <= ${first}
    ), ${first})`;

/** $1 network id, $2 kinds (int2[]), $3 first block, $4 last block: the three parts of coverage within that range. */
const selectCoverage = statement(
  'coverage/select-coverage',
  `SELECT k.kind, p.part, p.chunk, p.version, p.ranges FROM unnest($2::int2[]) AS k (kind), LATERAL (
     ${unpublished('$3', '$4')}
     UNION ALL
     SELECT 'published', NULL, NULL, p.ranges FROM (${publishedWithin('$3::int8', '$4::int8')}) AS p
   ) AS p`,
);

/**
 * $1 network id, $2 bits of kinds, $3 version by kind (int8[], from kind 0 on): like select-coverage from the first
 * block to the last, but of what is published a row for each chunk that has a higher version.
 *
 * Bits and not an array of kinds: how long an array is, Postgres knows only where it plans the statement anew, and then
 * it does so for every look, which takes longer than to run it.
 */
const selectChanges = statement(
  'coverage/select-changes',
  `SELECT k.kind, p.part, p.chunk, p.version, p.ranges
   FROM (SELECT kind::int2 AS kind FROM generate_series(0, 7) AS all_kinds (kind) WHERE ($2::int4 >> kind) & 1 = 1)
     AS k,
   LATERAL (
     ${unpublished('0', `${Number.MAX_SAFE_INTEGER - 1}`)}
     UNION ALL
     SELECT 'published', c.chunk, c.version, p.ranges
     FROM packhouse.published_chunk AS c,
       LATERAL (${publishedWithin('c.chunk * 16384', '(c.chunk * 16384 + 16383)')}) AS p
     WHERE c.network_id = $1 AND c.kind = k.kind AND c.version > ($3::int8[])[k.kind + 1]
   ) AS p
   ORDER BY k.kind, p.part, p.chunk`,
);

interface Row {
  kind: number;
  part: keyof Coverage;
  chunk: number | null;
  version: number | null;
  /** See asText; null: none. */
  ranges: string | null;
}

/**
 * Reads the staged, published and quarantined ranges of some kinds in one statement, and so from one snapshot. What is
 * published is remembered where everything is asked for, and read again only where it changed: the cost is that of
 * staging, quarantine and the change, however much is published.
 */
export function createCoverage(connections: Connections, network: NetworkRef) {
  const memory = createMemory(connections, () => new Map<number, Published>());
  /** What is published by now, given what was known when the rows were read. */
  const remember = (
    known: Map<number, Published>,
    code: number,
    before: Published,
    rows: readonly Row[],
  ): readonly BlockRange[] => {
    const published = publishedAfter(before, toChunks(rows));
    // Another call may have read more meanwhile.
    if (published.version > (known.get(code)?.version ?? 0)) known.set(code, published);
    return published.ranges;
  };

  const coverages = async (kinds: readonly Kind[], within?: BlockRange): Promise<Map<Kind, Coverage>> => {
    const id = await network.find();
    const codes = kinds.map(kindCode);
    const known = memory();
    const getPublished = (code: number): Published => known.get(code) ?? NOTHING_PUBLISHED;
    const before = codes.map(getPublished);
    const read = async (): Promise<Row[]> => {
      if (id === 0 || kinds.length === 0 || (within !== undefined && within.lastBlock < within.firstBlock))
        return [];
      if (within !== undefined) {
        return connections.query<Row>(selectCoverage, [id, codes, within.firstBlock, within.lastBlock]);
      }
      const versions = Array.from(
        { length: Math.max(...codes) + 1 },
        (_, code) => getPublished(code).version,
      );
      return connections.query<Row>(selectChanges, [id, kindsMask(kinds), versions]);
    };
    const rows = await read();
    return new Map(
      codes.map((code, i) => {
        const own = rows.filter((row) => row.kind === code);
        const published =
          id === 0 || within !== undefined
            ? toRanges(own, 'published')
            : remember(known, code, before[i] as Published, own);
        const [staged, quarantined] = [toRanges(own, 'staged'), toRanges(own, 'quarantined')];
        return [kinds[i] as Kind, { staged, published, quarantined }];
      }),
    );
  };
  return {
    /** Coverage of some kinds in one statement, as of one moment; default range: everything. */
    coverages,
    coverage: async (kind: Kind, within?: BlockRange) =>
      (await coverages([kind], within)).get(kind) as Coverage,
  };
}

function toRanges(rows: readonly Row[], part: keyof Coverage): BlockRange[] {
  return parseRanges(rows.find((row) => row.part === part)?.ranges ?? null);
}

function toChunks(rows: readonly Row[]): ChangedChunk[] {
  return rows.flatMap(({ chunk, version, ranges }) =>
    chunk === null || version === null ? [] : [{ chunk, version, runs: parseRanges(ranges) }],
  );
}

function parseRanges(text: string | null): BlockRange[] {
  if (text === null) return [];
  return text.split(' ').map((range) => {
    const border = range.indexOf('-');
    return { firstBlock: Number(range.slice(0, border)), lastBlock: Number(range.slice(border + 1)) };
  });
}
