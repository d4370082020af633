import { coreAddressHex, toQuantity } from '@packhouse/chain';
import { abiString, abiWords, TRANSFER_TOPICS } from '@packhouse/replay-node';
import type { ScriptedAnswer, ScriptedCall } from './scripted-node.js';

export type ScriptedContracts = ReturnType<typeof scriptedContracts>;

interface ScriptedToken {
  contract: string;
  id: bigint;
  uri: string;
  standard?: 'erc721' | 'erc1155' | 'none';
  owner?: string;
  epoch?: number;
}

const INTERFACES = { erc721: '80ac58cd', erc1155: 'd9b67a26', none: '' };
const HEAD = 1_000;

/** Token contracts on a node of the core family. */
export function scriptedContracts() {
  const tokens: ScriptedToken[] = [];
  let uriCalls = 0;
  const call = (to: string, data: string): ScriptedAnswer => {
    const selector = data.slice(0, 10);
    const mine = tokens.filter(({ contract }) => contract === to);
    if (selector === '0x01ffc9a7') {
      const interfaceId = data.slice(10, 18);
      return {
        result: abiWords(mine.some((t) => INTERFACES[t.standard ?? 'erc721'] === interfaceId) ? 1 : 0),
      };
    }
    const token = mine.find(({ id }) => id === BigInt(`0x${data.slice(-64)}`));
    if (selector === '0x6352211e') {
      return token?.owner === undefined
        ? reverted
        : { result: abiWords(BigInt(`0x${coreAddressHex(token.owner)}`)) };
    }
    if (selector !== '0xc87b56dd' && selector !== '0x0e89341c') return reverted;
    uriCalls += 1;
    return token === undefined || token.uri === 'revert' ? reverted : { result: abiString(token.uri) };
  };
  return {
    /** Adds a token with an owner and a transfer; its URI or `revert`. */
    add: (token: ScriptedToken): void => void tokens.push(token),
    /** Calls for the URI of a token. */
    uriCalls: () => uriCalls,
    /** The answer of the node. */
    answer({ method, params }: ScriptedCall): ScriptedAnswer {
      if (method === 'cfx_epochNumber') return { result: toQuantity(HEAD) };
      if (method === 'cfx_call') {
        const { to, data } = params[0] as { to: string; data: string };
        return call(to, data);
      }
      if (method !== 'cfx_getLogs') return { error: { code: -32601, message: 'the method does not exist' } };
      const { address, topics } = params[0] as { address?: string[]; topics: unknown[] };
      const logs = tokens
        .filter((token) => address === undefined || address.includes(token.contract))
        .map(({ contract, id, owner, epoch = 1 }) => ({
          address: contract,
          data: '0x',
          epochNumber: toQuantity(epoch),
          topics: [
            TRANSFER_TOPICS.erc721,
            word(0n),
            word(BigInt(`0x${owner === undefined ? '1' : coreAddressHex(owner)}`)),
            word(id),
          ],
        }))
        .filter((log) => topics.every((want, at) => want === null || [want].flat().includes(log.topics[at])));
      return { result: logs };
    },
  };
}

const reverted = { error: { code: -32015, message: 'Transaction reverted' } };

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}
