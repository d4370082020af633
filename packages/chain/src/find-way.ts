import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { type BlockAnswer, proveBlock } from './prove/prove-block.js';
import type { Proof, ProofPolicy } from './prove/proved-block.js';
import type { Tools } from './prove/tools.js';
import { RULE_SETS } from './rules/find-rules.js';

/** What a networks file has to say of a chain that no table names. */
type Way = Partial<Pick<ProofPolicy, 'rules' | 'header' | 'transactions' | 'receipts'>>;

/** What is tried where no rules prove a block, from little trust to much. */
const TRUSTING: readonly Way[] = [
  { header: 'trust' },
  { receipts: 'trust' },
  { transactions: 'trust' },
  { header: 'trust', receipts: 'trust' },
  { header: 'trust', transactions: 'trust' },
  { header: 'trust', transactions: 'trust', receipts: 'trust' },
];

/**
 * The error of a block, with the line of the networks file that proves most of it, if no table names its chain and nobody
 * chose its rules. A false block has such a line too, which is why other nodes come first.
 */
export function withWay(tools: Tools, answer: BlockAnswer, error: unknown): unknown {
  const { policy, rules } = tools;
  const isUnlisted = policy.rules === undefined && policy.chainId !== undefined;
  if (!isUnlisted || rules.chains.includes(policy.chainId!)) return error;
  if (!isPackhouseError(error, 'PROOF_FAILED') && !isPackhouseError(error, 'RECORD_INVALID')) return error;
  const found = findWay(tools, answer);
  if (found === undefined) return error;
  const { code, message, data } = error;
  const line = Object.entries(found.way).map(([name, value]) => `${name}: ${value}`);
  const proofs = `proofs: { ${line.join(', ')} }`;
  const hint = `Another node may give the block as it should be. If all give the same, the chain has rules of its own: in the networks file, ${proofs} proves ${found.proofs.join(', ')} of this block.`;
  return new PackhouseError({ code, message, hint, data: { ...data, way: proofs }, cause: error });
}

/** The way that proves most of a block; of two that prove as much the one that trusts less. */
function findWay(tools: Tools, answer: BlockAnswer): { way: Way; proofs: readonly Proof[] } | undefined {
  const whole = RULE_SETS.filter(({ unproved }) => unproved.header === undefined);
  const others = RULE_SETS.filter(({ unproved }) => unproved.header !== undefined);
  const named = (sets: typeof RULE_SETS) => sets.map(({ name }): Way => ({ rules: name }));
  let best: { way: Way; proofs: readonly Proof[] } | undefined;
  for (const way of [...named(whole), ...TRUSTING, ...named(others)]) {
    const rules = RULE_SETS.find(({ name }) => name === way.rules) ?? tools.rules;
    try {
      const policy: ProofPolicy = { ...tools.policy, ...way, senders: 'off' };
      const { proofs } = proveBlock({ ...tools, policy, rules }, answer);
      if (proofs.length > (best?.proofs.length ?? 0)) best = { way, proofs };
    } catch {
      // The next may prove it.
    }
  }
  return best;
}
