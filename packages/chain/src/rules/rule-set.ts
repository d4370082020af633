/**
 * How a value is written in RLP: a number (`integer` is one in JSON), bytes, or bytes of which there must be so many.
 * `step` is a number and `seal` 65 bytes, which some nodes write in their own way.
 */
export type Form = 'quantity' | 'integer' | 'data' | 'step' | 'seal' | number;

/** A header field. */
export interface HeaderField {
  name: string;
  form: Form;
  /** Another name that some nodes give it. */
  or?: string;
  /** The object inside the block that holds it. */
  of?: string;
}

/** A field, or a list inside the header; a list `of` an object is omitted if the block has no such object. */
export type HeaderPart = HeaderField | { readonly list: readonly HeaderPart[]; readonly of?: string };

/** A field of a transaction; `recipient` is an address or nothing. */
export interface TransactionField {
  name: string;
  form: Form | 'recipient' | 'accessList';
  /** Another name that some nodes give it. */
  or?: string;
  /** A second field that must say the same, if it is there. */
  also?: string;
}

/** Fields in their order, each `name:form`, or `name/other:form` if some nodes give it another name. */
export function fields<Field extends { name: string; form: string | number } = HeaderField>(
  text: string,
): Field[] {
  return text
    .trim()
    .split(/\s+/)
    .map((field) => {
      const [, name, or, form] = /^(\w+)(?:\/(\w+))?:(\w+)$/.exec(field)!;
      return { name, form: Number(form) || form, ...(or && { or }) } as Field;
    });
}

/**
 * A transaction type beyond those of Ethereum: `type || rlp(fields)`, or the reason why nothing of it is recomputed.
 * `unwrapped`: its one field is RLP already, and its encoding is `type || field`; nobody signs it.
 */
export type TypeRule =
  | {
      readonly fields: readonly TransactionField[];
      readonly baseFeeInReceipt?: true;
      readonly unwrapped?: true;
    }
  | { readonly unknown: string };

/** What a rule set leaves unproved, each with its reason as a sentence without the dot. */
export interface Unproved {
  header?: string;
  /** Hashes of the transactions. */
  hashes?: string;
  /** Root of the transactions. */
  transactions?: string;
  /** Root of the receipts. */
  receipts?: string;
  /** Blooms of the receipts and of the block. */
  blooms?: string;
}

/** Which of Ethereum's rules hold beyond those that the roots need. */
export interface Checks {
  /** Each receipt's gas and those before add up to its cumulative gas. */
  sums: boolean;
  /** The block's gas is that of its receipts; `bounds`: see EIP-7778 and EIP-8037. */
  total: 'equal' | 'bounds' | 'any';
  /** `size` is the length of the block's RLP. */
  size: boolean;
  /**
   * What is paid for gas. `equal`: what follows from the fees of the transaction and the base fee (EIP-1559). `base`: the
   * transaction names that price, its receipt the base fee or that. `most`: no more than the transaction offers.
   */
  prices: 'equal' | 'base' | 'most';
  /** Addresses of new contracts follow from sender and nonce. */
  addresses: boolean;
  /** What logged was called in its transaction. */
  logs: boolean;
  /** How logs are numbered: through the block, with gaps, or from 0 in each transaction (where some blocks do that). */
  logIndex: 'block' | 'gaps' | 'restarts';
}

/** How the blocks of one chain are proved. */
export interface Rules {
  header: readonly HeaderPart[];
  /** Types beyond 0 to 4, by their QUANTITY. Those of the OP stack's deposits are built in, as `deposit`. */
  types: ReadonlyMap<string, TypeRule | 'deposit'>;
  /** Transactions that are in no root: Polygon's state sync, HyperEVM's transactions of price 0. */
  outside: 'none' | 'stateSync' | 'zeroPrice';
  /** Why some blocks have fewer receipts than transactions; absent: none has. */
  lacksReceipts?: string;
  /** Names of the receipts' fields of fees that no root has. */
  fees?: readonly string[];
  unproved: Unproved;
  checks: Checks;
}

/** The rules of some chains, with the eras in which they were different. */
export interface RuleSet extends Rules {
  name: string;
  /** The chain ids that follow it. */
  chains: readonly number[];
  /** Where the rules come from. */
  source: string;
  eras: readonly Era[];
}

/** Blocks with other rules than the newest. */
interface Era {
  /** For the table of docs/proofs.md. */
  label: string;
  applies(block: { number: number; difficulty: unknown; settledHeight: unknown }): boolean;
  rules: Partial<Rules>;
}
