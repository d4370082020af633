import type { Database } from '@packhouse/database';
import type { Network, NetworksChange } from '@packhouse/networks';
import { PackhouseError } from '@packhouse/runtime';

/**
 * Refuses a changed networks file that gives the name of a stored network to another chain: its blocks would be mixed
 * with those of the old one. Throws NODE_WRONG_CHAIN.
 */
export async function refuseOtherChains(
  database: Pick<Database, 'networks'>,
  networks: readonly Network[],
  changes: readonly NetworksChange[],
): Promise<void> {
  for (const { id, chainId } of await database.networks.list()) {
    const network = networks.find((each) => each.id === id);
    if (network === undefined) continue;
    const fields = changes.flatMap((each) => (each.network === id ? (each.fields ?? []) : []));
    const what =
      network.chainId !== chainId
        ? `chain id ${network.chainId}, and what is stored of it is of chain id ${chainId}`
        : fields.includes('family')
          ? `family ${network.family}, and what is stored of it is of another family`
          : null;
    if (what === null) continue;
    throw new PackhouseError({
      code: 'NODE_WRONG_CHAIN',
      message: `Network "${id}" is given with ${what}.`,
      hint: 'Give the other chain another network name, or use another database.',
      data: { network: id, expected: chainId, got: network.chainId },
    });
  }
}
