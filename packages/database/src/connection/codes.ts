import {
  KINDS,
  type Kind,
  type NotProved,
  PROOFS,
  type Proof,
  TABLES,
  type TableName,
} from '@packhouse/chain';

/** The stored code of a kind. */
export function kindCode(kind: Kind): number {
  return KINDS.indexOf(kind);
}

/** The kind of a stored code. */
export function getKind(code: number): Kind {
  const kind = KINDS[code];
  if (kind === undefined) throw new RangeError(`no kind has code ${code}`);
  return kind;
}

/** The stored code of a table of the lake: that of its kind, if it has one. */
export function tableCode(table: TableName): number {
  return TABLES.indexOf(table);
}

/** The table of a stored code. */
export function getTable(code: number): TableName {
  const table = TABLES[code];
  if (table === undefined) throw new RangeError(`no table has code ${code}`);
  return table;
}

/** The stored bit mask of kinds. */
export function kindsMask(kinds: readonly Kind[]): number {
  return mask(KINDS, kinds);
}

/** The kinds of a stored bit mask. */
export function getKinds(bits: number): Kind[] {
  return KINDS.filter((_, position) => (bits & (1 << position)) !== 0);
}

/** The stored bit mask of proofs. */
export function proofsMask(proofs: readonly Proof[]): number {
  return mask(PROOFS, proofs);
}

/** The proofs of a stored bit mask. */
export function getProofs(bits: number): Proof[] {
  return PROOFS.filter((_, position) => (bits & (1 << position)) !== 0);
}

/** The stored text of what is not proved; empty: nothing. */
export function notProvedText(list: readonly NotProved[] | undefined): string {
  return list === undefined || list.length === 0 ? '' : JSON.stringify(list);
}

/** What is not proved, from its stored text. */
export function getNotProved(text: string): NotProved[] {
  return text === '' ? [] : (JSON.parse(text) as NotProved[]);
}

/** A stored hash from `0x` hex. */
export function hashBytes(hex: string): Buffer {
  return Buffer.from(hex.startsWith('0x') ? hex.slice(2) : hex, 'hex');
}

/** `0x` hex of a stored hash. */
export function hashText(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`;
}

function mask<T>(all: readonly T[], some: readonly T[]): number {
  let bits = 0;
  for (const one of some) bits |= 1 << all.indexOf(one);
  return bits;
}
