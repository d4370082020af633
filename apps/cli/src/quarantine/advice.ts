import type { QuarantineRow } from '@packhouse/database';

const MORE_NODES =
  'Add another node to the upstreams of this network (of another make, or an archive node): all of them are asked before a block is given up.';

/** What helps against a cause, in one or two sentences. */
export function advice({ cause, upstream }: Pick<QuarantineRow, 'cause' | 'upstream'>): string {
  const node = upstream ?? 'the node';
  switch (cause) {
    case 'PROOF_FAILED':
      return `What ${node} sends does not fit the header of the block: it lies, or its data is damaged. ${MORE_NODES} A network whose headers cannot be recomputed says so under \`proofs\` in the networks file.`;
    case 'RECORD_INVALID':
    case 'NODE_ANSWER_INVALID':
      return `What ${node} sends is not what the method should give. ${MORE_NODES} Newer versions of Packhouse may know this form.`;
    case 'BLOCKS_UNAVAILABLE':
    case 'NODE_ANSWER_MISSING':
      return `No node keeps this part of the chain. ${MORE_NODES} Or want less: \`packhouse backfill cancel\`, and add one that begins later.`;
    case 'NODE_ANSWER_TOO_LARGE':
      return 'The answer is larger than the node gives, or than is read: raise the limit of the node, or NODE_MAX_BODY.';
    case 'NODE_TIMEOUT':
      return `It takes ${node} longer than is waited: raise NODE_TIMEOUT_MS and the timeout of the node for traces. ${MORE_NODES}`;
    case 'STAGE_CONFLICT':
      return `What ${node} sends follows another branch than the blocks beside it. See \`packhouse alarms\`; a node that follows the right branch mends it.`;
    case 'INTERNAL':
      return 'This is a fault of Packhouse: the log of the ingester has all of it, and the block is tried again by itself.';
    default:
      return `${MORE_NODES} It is tried again by itself.`;
  }
}
