/** The five kinds of data, in the order that tables and files list them; the position is the stored code. */
export const KINDS = ['blocks', 'transactions', 'receipts', 'logs', 'traces'] as const;

/** A kind of data. */
export type Kind = (typeof KINDS)[number];

/** Whether `text` names a kind. */
export function isKind(text: string): text is Kind {
  return (KINDS as readonly string[]).includes(text);
}

/** An inclusive range of block numbers. */
export interface BlockRange {
  firstBlock: number;
  lastBlock: number;
}
