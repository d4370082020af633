import type { BlockRange } from '@packhouse/chain';
import { kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { NetworkDatabase } from '../contract/database.js';
import type { Coverage } from '../contract/rows.js';
import type { NetworkRef } from '../tables/networks.js';
import { type ChangedChunk, NOTHING_PUBLISHED, type Published, publishedAfter } from './published-cache.js';

/** Ranges in order as one text: 300,000 rows take the driver seconds. */
const asText = (first: string, last: string): string =>
  `string_agg((${first})::text || '-' || (${last})::text, ' ' ORDER BY ${first})`;

/** $1 network id, $2 kind, $3 start, $4 end: what is staged and quarantined within start..end. */
const UNPUBLISHED = `
  SELECT part, NULL::int8 AS chunk, NULL::int8 AS version, ${asText('lower(range)', 'upper(range) - 1')} AS ranges
  FROM (
    SELECT 'staged' AS part, range_agg(int8range(block, end_block, '[]')) AS ranges
    FROM packhouse.fragment
    WHERE network_id = $1 AND kind = $2::int2 AND block BETWEEN $3::int8 - 1023 AND $4::int8
    UNION ALL
    SELECT 'quarantined', range_agg(int8range(block, block + blocks))
    FROM packhouse.quarantine
    WHERE network_id = $1 AND (kinds >> $2::int4) & 1 = 1
      AND int8range(block, block + blocks) && int8range($3::int8, $4::int8, '[]')
  ) AS parts,
  unnest(parts.ranges * int8multirange(int8range($3::int8, $4::int8, '[]'))) AS range
  GROUP BY part`;

/** The published runs of the network and kind that touch first..last, cut there; it reads these only. */
const publishedWithin = (first: string, last: string): string => `
  SELECT ${asText(`greatest(r.start_block, ${first})`, `least(r.end_block, ${last})`)} AS ranges
  FROM packhouse.published_run AS r
  WHERE r.network_id = $1 AND r.kind = $2::int2 AND r.start_block <= ${last} AND r.end_block >= ${first}
    AND r.start_block >= coalesce((
      SELECT max(b.start_block) FROM packhouse.published_run AS b
      WHERE b.network_id = $1 AND b.kind = $2::int2 AND b.start_block <= ${first}
    ), ${first})`;

/** $1 network id, $2 kind, $3 start, $4 end: the three parts of coverage within start..end. */
const selectCoverage = statement(
  'coverage/select-coverage',
  `${UNPUBLISHED}
   UNION ALL
   SELECT 'published', NULL, NULL, p.ranges FROM (${publishedWithin('$3::int8', '$4::int8')}) AS p`,
);

/**
 * $1 network id, $2 kind, $3 start, $4 end, $5 version: like select-coverage, but of what is published a row for each
 * chunk that has a higher version.
 */
const selectChanges = statement(
  'coverage/select-changes',
  `${UNPUBLISHED}
   UNION ALL
   SELECT 'published', c.chunk, c.version, p.ranges
   FROM packhouse.published_chunk AS c,
     LATERAL (${publishedWithin('c.chunk * 16384', '(c.chunk * 16384 + 16383)')}) AS p
   WHERE c.network_id = $1 AND c.kind = $2::int2 AND c.version > $5::int8
   ORDER BY part, chunk`,
);

interface Row {
  part: keyof Coverage;
  chunk: number | null;
  version: number | null;
  /** See asText; null: none. */
  ranges: string | null;
}

/** The default range: up to the highest block number supported. */
const EVERYTHING = { start: 0, end: Number.MAX_SAFE_INTEGER - 1 };

/**
 * Reads the staged, published and quarantined ranges of one kind from one snapshot. What is published is remembered
 * where everything is asked for, and read again only where it changed: the cost is that of staging, quarantine and the
 * change, however much is published.
 */
export function createCoverage(connections: Connections, network: NetworkRef): NetworkDatabase['coverage'] {
  const known = new Map<number, Published>();
  return async (kind, within) => {
    const id = await network.find();
    const { start, end } = within ?? EVERYTHING;
    if (id === 0 || end < start) return { staged: [], published: [], quarantined: [] };
    const code = kindCode(kind);
    const before = known.get(code) ?? NOTHING_PUBLISHED;
    const values = [id, code, start, end];
    const rows =
      within === undefined
        ? await connections.query<Row>(selectChanges, [...values, before.version])
        : await connections.query<Row>(selectCoverage, values);
    const [staged, quarantined] = [rangesOf(rows, 'staged'), rangesOf(rows, 'quarantined')];
    if (within !== undefined) return { staged, published: rangesOf(rows, 'published'), quarantined };
    const published = publishedAfter(before, chunksOf(rows));
    // Another call may have read more meanwhile.
    if (published.version > (known.get(code)?.version ?? 0)) known.set(code, published);
    return { staged, published: published.ranges, quarantined };
  };
}

function rangesOf(rows: readonly Row[], part: keyof Coverage): BlockRange[] {
  return parseRanges(rows.find((row) => row.part === part)?.ranges ?? null);
}

function chunksOf(rows: readonly Row[]): ChangedChunk[] {
  return rows.flatMap(({ chunk, version, ranges }) =>
    chunk === null || version === null ? [] : [{ chunk, version, runs: parseRanges(ranges) }],
  );
}

function parseRanges(text: string | null): BlockRange[] {
  if (text === null) return [];
  return text.split(' ').map((range) => {
    const border = range.indexOf('-');
    return { start: Number(range.slice(0, border)), end: Number(range.slice(border + 1)) };
  });
}
