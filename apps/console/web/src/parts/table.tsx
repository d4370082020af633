import type { ComponentChildren } from 'preact';
import type { Answer, Input, OperationName } from '../lib/answers.js';
import type { Query } from '../lib/query.js';
import { toHref, useRoute } from '../lib/route.js';
import { useVisibleRows } from './rows/use-visible-rows.js';
import { Read } from './states.js';

/** The cells of a row, by the titles of their columns. */
export type Columns<T> = Readonly<Record<string, (row: T) => ComponentChildren>>;

interface TableProps<T> {
  label: string;
  columns: Columns<T>;
  /** The titles of the columns that are aligned to the right. */
  numbers?: readonly string[];
  rows: readonly T[];
  keyOf: (row: T) => string | number;
  /** Shown instead of a table without rows. */
  empty?: ComponentChildren;
}

/** A table; on a narrow screen each row becomes a card. Of a long one only the rows in sight are in the page. */
export function Table<T>({ label, columns, numbers = [], rows, keyOf, empty }: TableProps<T>) {
  const { body, first, past, above, below } = useVisibleRows(rows.length);
  if (rows.length === 0 && empty !== undefined) return <div class="empty">{empty}</div>;
  const getClass = (title: string) => (numbers.includes(title) ? 'number' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard (WCAG 2.1.1)
    <section class="table-frame" aria-label={label} tabIndex={0}>
      <table aria-rowcount={rows.length + 1}>
        <caption class="unseen">{label}</caption>
        <thead>
          <tr>
            {Object.keys(columns).map((title) => (
              <th key={title} scope="col" class={getClass(title)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Gap px={above} />
          {rows.slice(first, past).map((row, at) => (
            <tr key={keyOf(row)} aria-rowindex={first + at + 2}>
              {Object.entries(columns).map(([title, cell]) => (
                <td key={title} data-title={title} class={getClass(title)}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
          <Gap px={below} />
        </tbody>
      </table>
    </section>
  );
}

/** The place of rows that are not in the page. */
const Gap = ({ px }: { px: number }) =>
  px === 0 ? null : (
    <tr class="gap">
      <td style={{ height: `${px}px` }} />
    </tr>
  );

interface Page<T> {
  rows: readonly T[];
  more: boolean;
}
/** A row of an answer that is a list, or a page of one. */
type RowOf<A> = A extends readonly (infer T)[] ? T : A extends Page<infer T> ? T : never;

/** Where a page of rows is, and what the address of the next one has besides, by the last row. */
interface Pages<T> {
  path: string;
  query: Query;
  next: (last: T) => Query;
  titles?: readonly [first: string, next: string];
}

/** Reads rows, or a page of them, and shows them as a table. */
export function ReadTable<N extends OperationName>(
  given: Omit<TableProps<RowOf<Answer<N>>>, 'rows'> & {
    name: N;
    input?: Input<N>;
    everyMs?: number;
    above?: ComponentChildren;
    /** Whether its label is a heading above it. */
    headed?: boolean;
    pages?: Pages<RowOf<Answer<N>>>;
  },
) {
  const { name, input, everyMs, headed = false, pages, ...table } = given;
  const above = headed ? <h2>{table.label}</h2> : given.above;
  type T = RowOf<Answer<N>>;
  return (
    <Read name={name} input={input} everyMs={everyMs} above={above}>
      {(value) => {
        const { rows, more } = toPage<T>(value);
        return (
          <>
            <Table {...table} rows={rows} />
            {pages !== undefined && <PageLinks {...pages} last={more ? rows.at(-1) : undefined} />}
          </>
        );
      }}
    </Read>
  );
}

const toPage = <T,>(value: unknown): Page<T> =>
  Array.isArray(value) ? { rows: value, more: false } : (value as Page<T>);

/** The first page and the next one; `last` is undefined if this is it. */
export function PageLinks<T>(given: Pages<T> & { last: T | undefined }) {
  const { path, query, next, titles = ['First', 'Next'], last } = given;
  const { after, before } = useRoute().query;
  return (
    <p class="pages">
      {(after ?? before) !== undefined && <a href={toHref(path, query)}>{titles[0]}</a>}
      {last !== undefined && <a href={toHref(path, { ...query, ...next(last) })}>{titles[1]}</a>}
    </p>
  );
}
