import type { Answer, Call, GoodAnswer } from '../calls/call.js';
import type { BlockFacts, Capability, Mode } from '../calls/capabilities.js';
import type { CallContext, UpstreamNode } from '../calls/node.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';

/** The result of asking for one block in one of the known ways. */
type CapableAnswer<M extends Mode> =
  | { ok: true; mode: M; answers: GoodAnswer[] }
  | { ok: false; fault: Fault };

/**
 * Asks an upstream for data of several blocks in the best way it knows, and tries the next way for the blocks that it
 * refuses: a method that is missing, or a form of parameters that never worked there.
 *
 * `accept` returns the fault of the answers for one block, and `refused` if they show that the way does not work.
 */
export async function askCapable<M extends Mode>(
  node: UpstreamNode,
  capability: Capability<M>,
  blocks: readonly BlockFacts[],
  context: CallContext,
  accept: (mode: M, block: BlockFacts, answers: GoodAnswer[]) => Fault | 'refused' | null,
): Promise<Map<number, CapableAnswer<M>>> {
  const done = new Map<number, CapableAnswer<M>>();
  let left = [...blocks];
  while (left.length > 0) {
    const { mode } = capability;
    if (mode === null) {
      for (const block of left) done.set(block.number, { ok: false, fault: missing(node, block) });
      break;
    }
    const asked: { block: BlockFacts; calls: Call[] }[] = [];
    for (const block of left) {
      const calls = mode.calls(block);
      if (isFault(calls)) done.set(block.number, { ok: false, fault: calls });
      else asked.push({ block, calls });
    }
    const flat = asked.flatMap(({ calls }) => calls);
    const answers: Answer[] = flat.length === 0 ? [] : await node.callAll(flat, context);
    const refused: BlockFacts[] = [];
    let methodMissing = false;
    let position = 0;
    for (const { block, calls } of asked) {
      const mine = answers.slice(position, position + calls.length);
      position += calls.length;
      const bad = mine.find((answer) => !answer.ok);
      if (bad !== undefined && !bad.ok) {
        if (isRefusal(bad.fault, capability.confirmed && capability.mode === mode)) {
          refused.push(block);
          methodMissing ||= bad.fault.error.code === 'NODE_METHOD_MISSING';
        } else done.set(block.number, { ok: false, fault: bad.fault });
        continue;
      }
      const good = mine as GoodAnswer[];
      const verdict = accept(mode, block, good);
      if (verdict === 'refused') refused.push(block);
      else if (verdict === null) {
        if (block.transactions > 0) capability.confirm(mode);
        done.set(block.number, { ok: true, mode, answers: good });
      } else done.set(block.number, { ok: false, fault: verdict });
    }
    if (refused.length > 0) capability.demote(mode, methodMissing);
    left = refused;
  }
  return done;
}

function isRefusal(fault: Fault, confirmed: boolean): boolean {
  return fault.error.code === 'NODE_METHOD_MISSING' || (fault.refusesParams && !confirmed);
}

function missing(node: UpstreamNode, block: BlockFacts): Fault {
  const what = `for the receipts or traces of block ${block.number}`;
  return makeFault(
    { label: node.label, what, block: block.number },
    'NODE_METHOD_MISSING',
    'offers none of the methods for it',
    'elsewhere',
    {
      hint: 'Enable eth_getBlockReceipts and trace_block (or the debug namespace) on it, or add another node.',
    },
  );
}
