import { PackhouseError } from '@packhouse/runtime';
import { ETHEREUM } from './ethereum.js';
import { OWN_CHAINS } from './own-chains.js';
import { ROLLUPS } from './rollups.js';
import type { HeaderField, HeaderPart, RuleSet, Rules } from './rule-set.js';

/** All rule sets. */
export const RULE_SETS: readonly RuleSet[] = [ETHEREUM, ...ROLLUPS, ...OWN_CHAINS];

/** Names of all rule sets. */
export const RULE_NAMES: readonly string[] = RULE_SETS.map(({ name }) => name);

/** The rules of a chain, or those of this name; Ethereum's if no table names the chain. Throws SETTINGS_INVALID. */
export function findRules(chainId: number | undefined, name: string | undefined): RuleSet {
  if (name === undefined) return RULE_SETS.find(({ chains }) => chains.includes(chainId ?? 1)) ?? ETHEREUM;
  const named = RULE_SETS.find((set) => set.name === name);
  if (named !== undefined) return named;
  throw new PackhouseError({
    code: 'SETTINGS_INVALID',
    message: `The rules are called ${JSON.stringify(name)}, expected one of ${RULE_NAMES.join(', ')}.`,
    data: { name, expected: RULE_NAMES },
  });
}

/** Whether a table names this chain: the rules of others are a guess. */
export function hasRules(chainId: number): boolean {
  return RULE_SETS.some(({ chains }) => chains.includes(chainId));
}

/** The rules that hold for this block, which is not checked yet. */
export function rulesAt(set: RuleSet, answer: unknown): Rules {
  if (set.eras.length === 0 || typeof answer !== 'object' || answer === null) return set;
  const { number, difficulty, settledHeight } = answer as Partial<Record<string, unknown>>;
  const block = {
    number: typeof number === 'string' ? Number(number) : Number.NaN,
    difficulty,
    settledHeight,
  };
  const era = set.eras.find(({ applies }) => applies(block));
  return era === undefined ? set : { ...set, ...era.rules };
}

/**
 * Whether a block of such a chain may have fewer receipts than transactions. Some versions of Cronos give none for a
 * transaction that exceeds the gas of its block, whose gas then is more than its limit (ethermint:
 * ExceedBlockGasLimitError); others do, in block 68215.
 */
export function mayLackReceipts(
  { lacksReceipts }: Rules,
  { gasUsed, gasLimit }: Record<string, unknown>,
): boolean {
  return lacksReceipts !== undefined && Number(gasUsed) > Number(gasLimit);
}

/** The same of the blocks of a network, by the fields of their headers. */
export function createReceiptRule(policy: {
  chainId?: number | undefined;
  rules?: string | undefined;
}): (header: Readonly<Record<string, unknown>>) => boolean {
  const set = findRules(policy.chainId, policy.rules);
  return (header) => mayLackReceipts(set, header);
}

/** The fields of a header, those in lists too. */
export function headerFields(parts: readonly HeaderPart[]): HeaderField[] {
  return parts.flatMap((part) => ('list' in part ? headerFields(part.list) : [part]));
}

/** Names of block fields that some chain's header commits to, beyond those of Ethereum. */
export const OTHER_HEADER_NAMES: readonly string[] = RULE_SETS.flatMap(({ header, eras }) =>
  [header, ...eras.map(({ rules }) => rules.header ?? [])].flatMap((parts) =>
    headerFields(parts).flatMap(({ name, or, of }) => [of ?? name, ...(or === undefined ? [] : [or])]),
  ),
);

/** Names of transaction fields that some chain's encoding needs. */
export const OTHER_TRANSACTION_NAMES: readonly string[] = RULE_SETS.flatMap(({ types }) =>
  [...types.values()].flatMap((type) =>
    typeof type === 'object' && 'fields' in type
      ? type.fields.flatMap(({ name, or, also }) => [name, or ?? name, also ?? name])
      : [],
  ),
);
