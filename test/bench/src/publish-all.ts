import { KINDS, type Kind } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import { createDiskStore, type ObjectStore } from '@packhouse/object-store';
import { pack, publish } from '@packhouse/pipeline';
import type { Place } from './place.js';

/** Publishes what is staged of these kinds, one after the other, as one packer does. */
export async function publishKinds(
  place: Pick<Place, 'context' | 'database' | 'signers'>,
  network: Network,
  objectStore: ObjectStore,
  kinds: readonly Kind[] = KINDS,
): Promise<void> {
  const parts = { ...place, network, objectStore };
  for (const kind of kinds) {
    await pack({ ...parts, publish: (...each) => publish(parts, ...each) }, kind, place.context.signal);
  }
}

/** The same into a folder. */
export async function publishTo(
  directory: string,
  place: Place,
  network: Network,
  kinds?: readonly Kind[],
): Promise<ObjectStore> {
  const store = await createDiskStore({ directory });
  await publishKinds(place, network, store, kinds);
  return store;
}
