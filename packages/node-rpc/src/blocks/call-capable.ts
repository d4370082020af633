import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { Answer, Call, CallContext, GoodAnswer } from '../calls/call.js';
import type { BlockFacts, Capability, Mode } from '../calls/capabilities.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';

/** What one block was answered, and in which way. */
export interface CapableAnswer<M extends Mode, T> {
  mode: M;
  part: T;
  answers: GoodAnswer[];
}

/**
 * Asks an upstream for data of several blocks in the best way it knows, and tries the next way for the blocks that it
 * refuses: a method that is missing, or a form of parameters that never worked there.
 *
 * `read` returns the data of one block, the fault of its answers, or `refused` if they show that the way does not work.
 */
export async function callCapable<M extends Mode, T extends object>(
  node: BatchUpstream,
  capability: Capability<M>,
  blocks: readonly BlockFacts[],
  context: CallContext,
  read: (mode: M, block: BlockFacts, answers: GoodAnswer[]) => T | Fault | 'refused',
): Promise<Map<number, CapableAnswer<M, T> | Fault>> {
  const done = new Map<number, CapableAnswer<M, T> | Fault>();
  let left = [...blocks];
  while (left.length > 0) {
    const { mode } = capability;
    if (mode === null) {
      for (const block of left) done.set(block.number, missing(node, block));
      break;
    }
    const asked: { block: BlockFacts; calls: Call[] }[] = [];
    for (const block of left) {
      const calls = mode.calls(block);
      if (isFault(calls)) done.set(block.number, calls);
      else asked.push({ block, calls });
    }
    const flat = asked.flatMap(({ calls }) => calls);
    const all: Answer[] = flat.length === 0 ? [] : await node.callAll(flat, context);
    const refused: BlockFacts[] = [];
    let methodMissing = false;
    for (const { block, calls } of asked) {
      const answers = all.splice(0, calls.length);
      const bad = answers.find((answer) => !answer.ok);
      const isConfirmed = capability.confirmed && capability.mode === mode;
      if (bad?.ok === false && isRefusal(bad.fault, isConfirmed)) {
        refused.push(block);
        methodMissing ||= bad.fault.error.code === 'NODE_METHOD_MISSING';
        continue;
      }
      const good = answers as GoodAnswer[];
      const part = bad?.ok === false ? bad.fault : read(mode, block, good);
      if (part === 'refused') refused.push(block);
      else if (isFault(part)) done.set(block.number, part);
      else {
        if (block.transactions > 0) capability.confirm(mode);
        done.set(block.number, { mode, part, answers: good });
      }
    }
    if (refused.length > 0) capability.demote(mode, methodMissing);
    left = refused;
  }
  return done;
}

function isRefusal(fault: Fault, confirmed: boolean): boolean {
  return fault.error.code === 'NODE_METHOD_MISSING' || (fault.refusesParams && !confirmed);
}

function missing(node: BatchUpstream, block: BlockFacts): Fault {
  const what = `for the receipts or traces of block ${block.number}`;
  const asked = { label: node.label, what, block: block.number };
  return makeFault(asked, 'NODE_METHOD_MISSING', 'offers none of the methods for it', 'elsewhere', {
    hint: 'Enable eth_getBlockReceipts and trace_block (or the debug namespace) on it, or add another node.',
  });
}
