/** The five kinds of data, in the order that tables and files list them; the position is the stored code. */
export const KINDS = ['blocks', 'transactions', 'receipts', 'logs', 'traces'] as const;

/** A kind of data. */
export type Kind = (typeof KINDS)[number];

/** Whether `text` names a kind. */
export function isKind(text: string): text is Kind {
  return (KINDS as readonly string[]).includes(text);
}

/** Tables of the lake: one for each kind, and the transfers, which several kinds have. The position is the stored code. */
export const TABLES = [...KINDS, 'transfers'] as const;

/** A table of the lake. */
export type TableName = (typeof TABLES)[number];

/** Whether `text` names a table of the lake. */
export function isTable(text: string): text is TableName {
  return (TABLES as readonly string[]).includes(text);
}

/** An inclusive range of block numbers. */
export interface BlockRange {
  firstBlock: number;
  lastBlock: number;
}
