import type { SharedTips } from '@packhouse/node-rpc';

/** The newest block numbers of gateways in one process, until they are cleared: for chains that go back. */
export function createMemoryTips(): SharedTips & { clear(): void } {
  const numbers = new Map<Parameters<SharedTips['raise']>[1], number>();
  let epoch = 0;
  return {
    readEpoch: async () => epoch,
    async raiseEpoch(_, atLeast) {
      epoch = Math.max(epoch + 1, atLeast);
      return epoch;
    },
    async raise(_, tag, number) {
      numbers.set(tag, Math.max(number, numbers.get(tag) ?? -1));
      return numbers.get(tag) as number;
    },
    async lower(_, tag, number) {
      if (number === null) numbers.delete(tag);
      else if (number < (numbers.get(tag) ?? -1)) numbers.set(tag, number);
    },
    read: async () => Object.fromEntries(numbers),
    clear: () => numbers.clear(),
  };
}
