import { type Network, nodeMethod } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';
import { askAside } from './ask-aside.js';
import type { ForwardNode } from './forward-node.js';
import type { NodeQuestion } from './head-question.js';
import { quantity } from './quantity.js';

/** An address may lead to another node at any time. */
const EVERY_MS = 60_000;

/**
 * Asks a node for its chain when that is due: at the start, after it rested, and every minute. One of another chain is
 * not asked for anything else until it says otherwise; one that cannot tell is believed. Gives whether what the node
 * says counts: it has answered, and is not on another chain. Never rejects.
 */
export async function checkIdentity(
  node: ForwardNode,
  parts: { network: Network; context: Context; signal: AbortSignal },
): Promise<boolean> {
  const { context, network, signal } = parts;
  const question = identityQuestion(network);
  if (question === null) return true;
  const now = context.clock.now();
  const known = node.identifiedAt !== null;
  if (known && now - (node.identifiedAt as number) < EVERY_MS) return !node.excluded;
  const said = await askAside(node, question, signal);
  if (said === null) return known && !node.excluded;
  node.identifiedAt = now;
  const got = said.kind === 'result' ? question.read(said.value) : null;
  const expected = network.chainId;
  if (got === null || (got !== expected) === node.excluded) return !node.excluded;
  node.exclude(got !== expected);
  const facts = { network: network.id, upstream: node.name, expected, got };
  if (node.excluded) context.logger.warn(facts, 'node serves another chain: it is not asked');
  else context.logger.info(facts, 'node serves the right chain again');
  return !node.excluded;
}

/** How the nodes of a network are asked for the `chainId` of the networks file; null where that has none. */
function identityQuestion(network: Network): NodeQuestion | null {
  if (network.family === 'evm') return { method: 'eth_chainId', params: [], read: quantity };
  if (network.family !== 'core') return null;
  return { method: nodeMethod('core_getStatus', network.rpc.aliases), params: [], read: networkOfStatus };
}

/** Nodes of old tell the chain only, which is the same number on the main network. */
function networkOfStatus(status: unknown): number | null {
  if (typeof status !== 'object' || status === null) return null;
  const { chainId, networkId } = status as { chainId?: unknown; networkId?: unknown };
  return quantity(networkId) ?? quantity(chainId);
}
