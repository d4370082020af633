import type { ComponentChildren } from 'preact';

export interface Column<T> {
  title: string;
  /** Numbers stand at the right. */
  number?: boolean;
  cell(row: T): ComponentChildren;
}

/** A table; on a narrow screen each row becomes a card. Beyond `most` rows it says how many are left out. */
export function Table<T>(given: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string | number;
  most?: number;
}) {
  const { label, columns, rows, keyOf, most = 500 } = given;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard (WCAG 2.1.1)
    <section class="table-frame" aria-label={label} tabIndex={0}>
      <table>
        <caption class="unseen">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ title, number }) => (
              <th key={title} scope="col" class={number ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, number, cell }) => (
                <td key={title} data-title={title} class={number ? 'number' : undefined}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && <p>{(rows.length - most).toLocaleString('en-US')} more rows are not shown.</p>}
    </section>
  );
}
